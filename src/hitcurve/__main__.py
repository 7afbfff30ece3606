"""``python -m hitcurve`` is the ``hitcurve`` command."""

from hitcurve.cli import main

if __name__ == "__main__":
    main()
