"""Loads the answers of one workload by dlt's rest_api source into Postgres: merge, nested child tables.

argv: the JSON object that dlt.ts writes.
DATABASE_URL names the database.
"""

import json
import os
import sys

import dlt
from dlt.sources.rest_api import rest_api_source

job = json.loads(sys.argv[1])
with open(job["inputs"], encoding="utf-8") as file:
    inputs = [line.rstrip("\n") for line in file]


@dlt.resource(name="inputs", selected=False)
def input_values():
    for value in inputs:
        yield [{"value": value.removeprefix(job["prefix"])}]


def flat_key(item):
    """Copies key parts out of objects into columns of the item, because a key in dlt cannot be a path."""
    for column, path in job["flat_key"].items():
        value = item
        for step in path:
            value = value[step]
        item[column] = value
    return item


resource = {
    "name": job["name"],
    "write_disposition": "merge",
    "primary_key": job["key"],
    "parallelized": job["parallel"],
    "processing_steps": [{"map": flat_key}] if job["flat_key"] else [],
    "endpoint": {
        "path": job["path"],
        "method": "POST",
        "json": job["body"],
        "paginator": "single_page",
    },
}

source = rest_api_source(
    {
        "client": {"base_url": job["url"], "headers": {"access-token": "bench-token"}},
        "resources": [input_values(), resource],
    }
)
pipeline = dlt.pipeline(
    pipeline_name=job["pipeline"],
    pipelines_dir=job["pipelines"],
    destination=dlt.destinations.postgres(os.environ["DATABASE_URL"]),
    dataset_name=job["schema"],
)
format = {"loader_file_format": job["format"]} if job["format"] else {}
print(pipeline.run(source, **format))
