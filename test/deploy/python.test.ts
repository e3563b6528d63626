/** The snippets for Airflow and Dagster, run by Python against a stand-in for the program, and stand-ins for the two. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes, SIGNAL_EXIT } from '../../src/cli/exit-codes.ts';
import { limitedRuns, playedProgram, retriedRuns } from './played-runs.ts';

/** Prints a summary and its own words, and ends with the code that CODE says; waits for SIGTERM where WAIT is set. */
const PROGRAM = `#!/bin/sh
trap 'code=143' TERM
code=\${CODE:-0}
if [ -n "$WAIT" ]; then echo waiting >&2; while [ "$code" != 143 ]; do sleep 0.05; done; fi
sync='{"sync":"a","exitCode":'$code',"state":"interrupted","error":"it broke","next":"Mend it.","loaded":2,"points":3,"truncated":0}'
[ "$code" = 2 ] || echo '{"exitCode":'$code',"tookMs":1,"words":"'"$*"'","syncs":['"$sync"']}'
exit $code
`;
const AIRFLOW = `
class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass
class AirflowSkipException(AirflowException): pass
`;
const AIRFLOW_SDK = `
def dag(**settings):
    assert settings["catchup"] is False and settings["max_active_runs"] == 1
    return lambda build: build
def task(**settings):
    assert settings["retries"] > 0
    return lambda run: lambda: tasks.append(run)
tasks = []
`;
const DAGSTER = `
class Failure(Exception):
    def __init__(self, description, allow_retries): super().__init__(description); assert allow_retries is False
class RetryRequested(Exception):
    def __init__(self, max_retries, seconds_to_wait): super().__init__(f"retry {max_retries}")
class MaterializeResult:
    def __init__(self, metadata): self.metadata = metadata
class AssetExecutionContext: pass
def JsonMetadataValue(value): return value
def asset(**settings): return lambda run: run
def ScheduleDefinition(**settings): pass
def Definitions(**settings): pass
`;
const RUN_AIRFLOW = `
import airflow.sdk, airflow_dag, sluice_run
sluice_run.WAITS_S = (0, 0)
try: print("returned", airflow.sdk.tasks[0]()["words"])
except Exception as error: print(type(error).__name__, error)
`;
const RUN_DAGSTER = `
import dagster_assets, sluice_run
sluice_run.WAITS_S = (0, 0)
class Context:
    class log: warning = staticmethod(lambda message: print("warned", message))
try: print("yielded", [dict(it.metadata, summary=None) for it in dagster_assets.warehouse(Context)])
except Exception as error: print(type(error).__name__, error)
`;

describe.runIf(spawnSync('python3', ['--version']).status === 0)('the snippets in Python', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-python-'));
    await mkdir(join(folder, 'airflow'));
    const files = {
      'airflow/__init__.py': '',
      'airflow/exceptions.py': AIRFLOW,
      'airflow/sdk.py': AIRFLOW_SDK,
      'dagster.py': DAGSTER,
    };
    for (const [name, body] of Object.entries(files)) await writeFile(join(folder, name), body);
    await writeFile(join(folder, 'sluice'), PROGRAM, { mode: 0o755 });
  });
  afterAll(() => rm(folder, { recursive: true }));

  const python = (script: string, env: Readonly<Record<string, string>>) => {
    const PATH = [folder, process.env['PATH'] ?? ''].join(delimiter);
    const PYTHONPATH = [folder, resolve('deploy/python')].join(delimiter);
    return spawn('python3', ['-B', '-c', script], { env: { PATH, PYTHONPATH, HOME: folder, ...env } });
  };
  async function printed(script: string, env: Readonly<Record<string, string>>): Promise<string> {
    const child = python(script, env);
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(err).toBe('');
    return out.trim();
  }

  it('know every exit code', async () => {
    const out = await printed(
      'import json, sluice_run; print(json.dumps({c: a.value for c, a in sluice_run.ACTIONS.items()}))',
      {},
    );
    const actions = JSON.parse(out) as Readonly<Record<string, string>>;
    expect(Object.keys(actions).map(Number)).toEqual([
      ...exitCodes.map(({ code }) => code),
      ...Object.values(SIGNAL_EXIT),
    ]);
  });

  it.each([
    [0, 'returned sync --json', "yielded [{'loaded': 2, 'points': 3, 'truncated': 0, 'summary': None}]"],
    [1, 'AirflowFailException', 'Failure'],
    [2, 'AirflowFailException', 'Failure'],
    [3, 'AirflowFailException', 'Failure'],
    [4, 'AirflowFailException', 'Failure'],
    [5, 'AirflowFailException', 'Failure'],
    [6, 'AirflowSkipException', 'warned'],
    [7, 'AirflowFailException', 'Failure'],
    [8, 'AirflowFailException', 'Failure'],
    [99, 'AirflowException', 'RetryRequested'],
  ])('act by exit code %i: %s, %s', async (code, airflow, dagster) => {
    const env = { CODE: String(code) };
    const [byAirflow, byDagster] = await Promise.all([printed(RUN_AIRFLOW, env), printed(RUN_DAGSTER, env)]);
    expect(byAirflow.startsWith(`${airflow} `) || byAirflow === airflow, byAirflow).toBe(true);
    expect(byDagster.startsWith(`${dagster} `) || byDagster === dagster, byDagster).toBe(true);
    // 2 ends before there is a summary.
    if (code > 2) expect(byAirflow).toContain('a: interrupted. it broke Mend it.');
  });

  it.each(retriedRuns)('agree that a run %s', async (_, runs, calls, code) => {
    const played = await playedProgram('sluice', runs);
    const script = `import json, os, sluice_run
sluice_run.WAITS_S = (0, 0)
it = sluice_run.run_until_done(program=(os.environ["PLAYED"],))
print(json.dumps([it.exit_code, it.action.value, it.summary["exitCode"], [s["sync"] for s in it.summary["syncs"]]]))`;
    const out = await printed(script, { PLAYED: join(played.folder, 'sluice') });
    const syncs = (runs.find((run) => run.syncs)?.syncs ?? []).map(({ sync }) => sync);
    expect(JSON.parse(out)).toEqual([code, code === 0 ? 'done' : 'fail', code, syncs]);
    expect(await played.calls()).toEqual(calls.map((words) => `${words} --json`));
  });

  it.each(limitedRuns)('agree that a run with a limit %s', async (_, runs, limits, code) => {
    const played = await playedProgram('sluice', runs);
    const script = `import json, os, sluice_run
sluice_run.WAITS_S = (0, 0)
it = sluice_run.run_until_done(max_points=5, program=(os.environ["PLAYED"],))
print(json.dumps([it.exit_code, it.action.value]))`;
    const out = await printed(script, { PLAYED: join(played.folder, 'sluice') });
    expect(JSON.parse(out)).toEqual([code, code === 0 ? 'done' : 'next time']);
    const calls = await played.calls();
    expect(calls.map((call) => Number(/--max-points (\d+)$/.exec(call)?.[1]))).toEqual(limits);
  });

  it('do not try again after a stop, also if the program ended with a transient error', async () => {
    const script = `import sluice_run
outcome = sluice_run.outcome_of(5, None, stopped=True)
print(outcome.action, outcome.is_transient(), sluice_run.outcome_of(5, None).followed_by(outcome).is_transient())`;
    expect(await printed(script, {})).toBe('Action.RETRY False False');
  });

  it('pass a stop on, and wait for the drain', async () => {
    const script =
      'import sluice_run; it = sluice_run.run_sync(("a", "b"), max_points=5); print(it.exit_code, it.action, it.summary["words"])';
    const child = python(script, { WAIT: '1' });
    const [out] = await Promise.all([
      text(child.stdout),
      once(child.stderr, 'data').then(() => child.kill('SIGTERM')),
      once(child, 'close'),
    ]);
    expect(out.trim()).toBe('143 Action.RETRY sync a b --json --max-points 5');
  });
});
