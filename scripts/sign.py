"""`make sign ARCHIVE=x.zip KEY=~/.ssh/id_ed25519`: write a signature next to a package, which proves its author."""

from framewatt.base.cli import arguments, run, say
from framewatt.package.signature import sign


def main() -> None:
    """Sign, and say where the signature is."""
    args = arguments(__doc__, "archive", "key")
    signature = sign(args.archive, args.key.expanduser())
    say(f"{signature}: give it along with {args.archive.name}; make verify ARCHIVE=… SIGNERS=… checks it")


if __name__ == "__main__":
    run(main)
