/** `sluice alerts`: which alerts stand, and whether those who are to be told can be. */
import { EXIT, UsageError } from '../../errors.ts';
import type { AlertState } from '../../alerts/store.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import { table } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';

export const alerts = command({
  about:
    'list (the default) tells the alerts that were ever raised, those that stand first. test sends one to the webhook and to the command of the config, ' +
    'and ends with exit code 5 when one of them did not take it. What is sent, and when, docs/operations.md says. Needs no token.',
  options: configOption,
  positionals: { action: { takes: 'optional', choices: ['list', 'test'], about: 'What to do.' } },
  examples: [
    { line: 'sluice alerts', about: 'What stands.' },
    { line: 'sluice alerts test', about: 'Whether an alert would arrive.' },
  ],
  run: async ({ action = 'list', config: flag }, context) => {
    const config = await readConfig(context, flag);
    if (action === 'list') {
      const found = await withWarehouseToRead(context, config, async (warehouse) => {
        if (!(await hasSchema(warehouse))) return [];
        const [{ listAlerts }, { operationsOf }] = await Promise.all([
          import('../../alerts/store.ts'),
          import('../../warehouse/connect/operations-db.ts'),
        ]);
        return listAlerts(operationsOf(warehouse));
      });
      show(context, found, () => listText(found, context));
      return EXIT.complete;
    }
    if (!config.alerts) {
      throw new UsageError(`alerts: ${config.file} names nobody to be told`, {
        next: 'Give it alerts: { webhook: "${SLUICE_ALERT_WEBHOOK}" } and set that variable, or a command.',
      });
    }
    const [{ channelsOf }, { testPayload }] = await Promise.all([
      import('../../alerts/channels.ts'),
      import('../../alerts/payload.ts'),
    ]);
    const { sleep, env, redactor } = context;
    const told: DeliveryTest[] = [];
    for (const { name, send } of channelsOf(config.alerts, { sleep, env, redact: redactor.redact })) {
      const delivery = await send(testPayload(context.now()));
      told.push({ channel: name, ok: delivery.ok, because: delivery.ok ? null : delivery.because });
    }
    show(context, told, () => told.map((it) => `${it.channel}: ${it.because ?? 'took the test alert'}\n`).join(''));
    return told.every(({ ok }) => ok) ? EXIT.complete : EXIT.transient;
  },
});

interface DeliveryTest {
  readonly channel: string;
  readonly ok: boolean;
  readonly because: string | null;
}

function listText(found: readonly AlertState[], { out }: Context): string {
  if (found.length === 0) return 'no alert was ever raised\n';
  const columns = ['sync', 'about', 'state', 'since', 'because'].map((name) => ({ name }));
  const rows = found.map((it) => [it.sync, it.kind.replaceAll('_', ' '), it.state, it.since, it.because]);
  return table(columns, rows, out);
}
