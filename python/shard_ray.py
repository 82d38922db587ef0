"""Does the shares of a plan with Ray, on all machines of its cluster that reach the folder and the graph:

    contech-backend shard plan FOLDER --workers 16 --graph graph.tg workspan
    python shard_ray.py FOLDER workspan.json [ADDRESS]

A share whose worker is lost is done again by another one. Without an address Ray uses this machine alone."""

import json
import os
import pathlib
import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=5)
def share(folder, number):
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    command = ["contech-backend", "shard", "run", folder, str(number)]
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
    return done.stderr if done.returncode else None


def main(folder, output, address=None):
    folder = os.path.abspath(folder)
    plan = json.loads(pathlib.Path(folder, "plan.json").read_text())
    ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error")
    shares = [share.remote(folder, number + 1) for number in range(plan["workers"])]
    failed = {error for error in ray.get(shares) if error}
    if failed:
        sys.exit("".join(sorted(failed)))
    sys.exit(subprocess.run(["contech-backend", "shard", "merge", folder, "-o", output]).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
