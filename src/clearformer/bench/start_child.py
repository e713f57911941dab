"""A process that says one token, or only imports torch, and at its end the most memory that it has had."""

from __future__ import annotations

import atexit
import json
import os
import sys
from importlib.metadata import entry_points
from typing import Any

from clearformer.bench.children import most_resident


def main() -> None:
    end, told = int(sys.argv[1]), json.loads(sys.argv[2])
    atexit.register(lambda: os.write(end, str(most_resident()).encode()))
    run(told)


def run(told: dict[str, Any]) -> None:
    match told["what"]:
        case "import torch":
            import torch

            os.write(1, torch.__version__.encode() + b"\n")
        case "clearformer":
            sys.argv = ["clearformer", *told["arguments"]]
            # As the shell's command finds it.
            (command,) = entry_points(group="console_scripts", name="clearformer")
            sys.exit(command.load()())
        case _:
            from clearformer.bench.llama_cpp_child import say_one

            say_one(told)


if __name__ == "__main__":
    main()
