/** Every command of the command line, in the order of the help. Each loads what it works with only when it runs. */
import type { Command } from './command.ts';
import { alerts } from './commands/alerts.ts';
import { check } from './commands/check.ts';
import { complete } from './commands/complete.ts';
import { completion } from './commands/completion.ts';
import { costs } from './commands/costs.ts';
import { dbt } from './commands/dbt.ts';
import { docs } from './commands/docs.ts';
import { forget } from './commands/forget.ts';
import { grants } from './commands/grants.ts';
import { init } from './commands/init.ts';
import { migrate } from './commands/migrate.ts';
import { plan } from './commands/plan.ts';
import { quarantine } from './commands/quarantine.ts';
import { prune } from './commands/prune.ts';
import { query } from './commands/query.ts';
import { replay } from './commands/replay.ts';
import { report } from './commands/report.ts';
import { sandbox } from './commands/sandbox.ts';
import { schedule } from './commands/schedule.ts';
import { schema } from './commands/schema.ts';
import { start } from './commands/start.ts';
import { status } from './commands/status.ts';
import { sync } from './commands/sync.ts';
import { worker } from './commands/worker.ts';

export const commands: readonly Command[] = [
  init,
  check,
  plan,
  migrate,
  sync,
  schedule,
  worker,
  replay,
  status,
  quarantine,
  alerts,
  costs,
  query,
  report,
  prune,
  forget,
  sandbox,
  docs,
  schema,
  dbt,
  grants,
  completion,
  complete,
  start,
];
