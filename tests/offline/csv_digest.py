"""A digest of facts files as the compiled code writes and reads them: ``python -m tests.offline.csv_digest``."""

from __future__ import annotations

import hashlib
import io
import tempfile
from contextlib import closing
from pathlib import Path
from random import Random

from hitcurve.errors import TraceError
from hitcurve.formats.opening import Opened
from hitcurve.offline.facts_csv import FactsCsv
from hitcurve.offline.facts_csv_reading import read_csv
from tests.formats.hostile import mutated
from tests.naive.facts import HEADER, Row
from tests.offline.random_facts import in_columns


def random_rows(random: Random) -> list[Row]:
    rows = []
    for _ in range(random.randrange(6)):
        in_bytes, pairs, first, second = random.random() < 0.5, [], 0, 0
        for age in range(random.randrange(5)):
            first += random.randrange(1, 10 ** random.randrange(1, 12))
            second = second + random.randrange(1, 9) if in_bytes else random.randrange(1, 9)
            pairs.append((first, second, age))
            first += 0 if in_bytes else second - 1
        names = ["".join(random.choices('ab,"\n\r\u00e9', k=random.randrange(4))) for _ in range(2)]
        numbers = random.choice([1 - 2**63, 7, 2**63 - 1]), random.randrange(9), 1, random.choice([1, 10**18])
        rows.append(Row(*names, *numbers, in_bytes, pairs, random.choice([None, 3])))
    return rows


def digest(times: int = 300) -> str:
    random, found = Random(7), hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.csv"
        for _ in range(times):
            file = io.BytesIO()
            FactsCsv(file).put(in_columns(random_rows(random)))
            found.update(file.getvalue())
            text = file.getvalue()[len(HEADER) + 1 :]
            damaged = text if random.random() < 0.3 else mutated(text, random, 1)
            path.write_bytes(HEADER.encode() + b"\n" + damaged)
            with closing(Opened(path)) as opened:
                try:
                    for rows in read_csv(opened):
                        found.update(repr([rows.trace_id, rows.instance_id]).encode())
                        for column in (rows.timestamp_ns, rows.block_bytes, rows.offsets, rows.first, rows.second):
                            found.update(column.tobytes())
                except TraceError as error:
                    found.update(str(error).removeprefix(str(path)).encode())
    return found.hexdigest()


if __name__ == "__main__":
    print(digest())
