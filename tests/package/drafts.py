"""A package to deposit that need not be verified, and its deposit on a server of this machine."""

import hashlib
from pathlib import Path

from zenodo import TOKEN, Zenodo

from framewatt.package.deposit import Deposit, Package
from framewatt.package.deposit_server import Server

HTML = b"<!doctype html><title>503</title>" + b"x" * 500


def stub(path: Path, content: bytes) -> Package:
    path.write_bytes(content)
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return Package(path, md5, hashlib.sha256(content).hexdigest(), {"title": "A trial", "keywords": []})


def deposit(package: Package, zenodo: Zenodo, token: str = TOKEN) -> Deposit:
    return Deposit(package, Server(zenodo.address, token, "DEPOSIT_TOKEN", pause_s=0.001, attempts=3))
