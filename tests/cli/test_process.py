"""What only a process of its own shows: signals, pipes, locales, and what `--help` imports."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

LOADED = (
    "import sys; from clearformer.cli.main import main; code = main({arguments}); "
    "heavy = ('torch', 'numpy', 'transformers', 'tokenizers'); "
    "print(*[name for name in heavy if name in sys.modules], file=sys.stderr)"
)
# The verb waits for standard input; "ready" is written when the interpreter is inside our code.
WAITING = (
    "import sys; from clearformer.cli.main import main; print('ready', flush=True); "
    "sys.exit(main(['tokenizer', 'decode', {folder!r}, *{options}]))"
)


def test_help_imports_nothing_heavy_and_is_there_within_a_second() -> None:
    for arguments in (["--help"], ["tokenizer", "train", "--help"], ["env", "--help"], ["nonsense"]):
        code = LOADED.format(arguments=arguments)
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            best = min(best, time.perf_counter() - start)
            if best < 1:
                break
        assert ended.stderr.splitlines()[-1] == ""
        assert best < 1


@pytest.mark.parametrize(("signum", "code", "word"), [(signal.SIGINT, 130, "中断"), (signal.SIGTERM, 143, "SIGTERM")])
def test_signals_end_in_two_lines(tokenizer_folder, signum, code, word) -> None:
    program = WAITING.format(folder=str(tokenizer_folder), options=["--lang", "zh"])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as process:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        process.send_signal(signum)
        out, err = process.stdout.read(), process.stderr.read().decode()
    assert (process.returncode, out) == (code, b"")
    assert len(err.splitlines()) == 2
    assert word in err


def test_a_reader_that_leaves_early_is_no_error(start, tokenizer_folder) -> None:
    process = start("tokenizer", "encode", str(tokenizer_folder))
    process.stdout.close()
    _, err = process.communicate("中文 ".encode() * 2_000)
    assert (process.returncode, err) == (0, b"")


def test_stdin_that_is_not_utf8_is_refused_by_name(start, tokenizer_folder) -> None:
    process = start("tokenizer", "encode", str(tokenizer_folder))
    out, err = process.communicate("好".encode() + b"\xb0\xa1")
    cause, remedy = err.decode().splitlines()
    assert (process.returncode, out) == (2, b"")
    assert "stdin: expected UTF-8 text, found the byte 0xb0 at position 3" in cause
    assert "iconv" in remedy


def test_an_argument_that_is_not_utf8_is_refused_by_name(start, tokenizer_folder) -> None:
    process = start("tokenizer", "encode", str(tokenizer_folder), b"a\xff")
    _, err = process.communicate()
    assert process.returncode == 2
    assert b"TEXT: expected UTF-8 text, found the byte 0xff at position 1" in err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_locale_without_chinese_does_not_fail(start, encoding) -> None:
    process = start("--lang", "zh", "--help", PYTHONIOENCODING=encoding)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    expected = "用法" if encoding == "utf-8" else r"\u7528\u6cd5"
    assert expected in out.decode(encoding)


def test_no_color_wins_over_a_forced_terminal(start) -> None:
    forced, _ = start("--help", FORCE_COLOR="1").communicate()
    assert b"\x1b[" in forced
    plain, _ = start("--help", FORCE_COLOR="1", NO_COLOR="1").communicate()
    assert b"\x1b[3" not in plain
    piped, _ = start("--help").communicate()
    assert b"\x1b" not in piped


def test_the_installed_command_reads_argv(start) -> None:
    out, _ = start("--version").communicate()
    assert out.strip().count(b".") == 2
