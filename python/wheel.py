"""Makes a wheel of the package and of the module that cargo has built: `wheel.py LIBRARY FOLDER` prints its path.

`pip install ./python` does the same with maturin, which builds the module first.
"""

import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path


def make(library, folder):
    here = Path(__file__).parent
    version = re.search(r'^version = "(.*)"', (here.parent / "Cargo.toml").read_text(), re.M)[1]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    name, tag = f"contech-{version}", f"cp39-abi3-{platform}"
    files = {f"contech/{path.name}": path.read_bytes() for path in (here / "contech").iterdir() if path.is_file()}
    files["contech/_contech.abi3.so"] = Path(library).read_bytes()
    about = f"{name}.dist-info"
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: contech\nVersion: {version}\n"
        "Requires-Python: >=3.9\nRequires-Dist: numpy\n"
    ).encode()
    files[f"{about}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: contech\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b'=').decode()},{len(text)}\n"
        for path, text in files.items()
    )
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    wheel = Path(folder) / f"{name}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


if __name__ == "__main__":
    print(make(*sys.argv[1:]))
