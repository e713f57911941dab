"""The package's build hook: compiles the kernels into the package where a C++ compiler is there.

Without one the package is whole all the same: `clearformer env` says that the kernels are missing, and why.
"""

from __future__ import annotations

import runpy
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BUILDING = Path(__file__).resolve().parent / "src" / "clearformer" / "native" / "building.py"


class NativeBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Wheels hold the library and are of this platform; an editable install finds it in the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        building = runpy.run_path(str(_BUILDING))
        library: Path = building["LIBRARY"]
        try:
            if building["stale"]():
                building["build"]()
        except building["NotBuiltError"] as error:
            self.app.display_warning(f"The compiled kernels are left out: {error}.")
            return
        if version != "editable":
            build_data["artifacts"].append(library.relative_to(self.root).as_posix())
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"py3-none-{platform}")
