/** Runs on a database with unusual settings, and by processes with wrong clocks. */
import { Client } from 'pg';
import type { Draws } from '../draws.ts';
import type { WarehouseTemplates } from '../warehouse-templates.ts';
import type { Oracle } from '../oracle.ts';
import { openStage, untilComplete, type Verdict } from '../stage.ts';
import { LONG_FORM } from '../workload.ts';

const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  datestyle: ['SQL, DMY', 'German, DMY', 'Postgres, MDY'],
  intervalstyle: ['sql_standard', 'iso_8601', 'postgres_verbose'],
  array_nulls: ['off'],
  extra_float_digits: ['-10', '0'],
  quote_all_identifiers: ['on'],
  bytea_output: ['escape'],
  timezone: ['Pacific/Kiritimati', 'America/St_Johns'],
  default_transaction_isolation: ['serializable', 'repeatable read'],
  transform_null_equals: ['on'],
  backslash_quote: ['off'],
  lc_messages: ['C'],
};

/** A run on a database with some of these settings; its tables must equal those of an undisturbed run. */
export async function unusualSettings(templates: WarehouseTemplates, draws: Draws, expected: Oracle): Promise<Verdict> {
  const stage = await openStage(templates, { ...LONG_FORM, kind: 'postgres' });
  try {
    const name = new URL(stage.warehouse.url).pathname.slice(1);
    await onDatabase(
      stage.warehouse.url,
      Object.entries(SETTINGS)
        .filter(() => draws.chance(0.7))
        .map(([setting, values]) => `alter database ${name} set ${setting} = '${draws.pick(values)}'`),
    );
    await untilComplete(stage, () => stage.start(), 1);
    return await stage.judge(0, expected);
  } finally {
    await stage.close();
  }
}

const DAY_MS = 86_400_000;

export interface ClockRun {
  readonly violations: readonly string[];
}

/** A first run by a process with a wrong clock; later runs must neither trust nor repeat it. */
export async function wrongClock(templates: WarehouseTemplates, draws: Draws): Promise<ClockRun> {
  const stage = await openStage(templates, { ...LONG_FORM, kind: 'postgres' });
  const clockAheadMs = draws.pick([400, 3, -3, -400]) * DAY_MS + draws.between(-DAY_MS, DAY_MS);
  const clockStepMs = draws.chance(0.5) ? draws.pick([1, -1]) * draws.between(1, 72) * 3_600_000 : 0;
  const sent = (): number => stage.sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests').length;
  try {
    await untilComplete(stage, () => stage.start({ clockAheadMs, clockStepMs }), 1);
    const first = sent();
    await untilComplete(stage, () => stage.start(), 1);
    const again = sent() - first;
    await onDatabase(stage.warehouse.url, [
      `update sluice_ops.answers set received_at = received_at - interval '2 days'`,
    ]);
    await untilComplete(stage, () => stage.start(), 1);
    const later = sent() - first - again;
    return {
      violations: [
        ...(again === 0 ? [] : [`${again} of ${first} requests were sent again while their answers were fresh`]),
        ...(later >= first / 2 ? [] : [`two days later only ${later} of ${first} requests were sent`]),
      ].map((words) => `clock ahead by ${clockAheadMs} ms, step ${clockStepMs} ms: ${words}`),
    };
  } finally {
    await stage.close();
  }
}

async function onDatabase(url: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
