/** `sluice alerts`: lists alerts, or sends a test alert to the configured channels. */
import { EXIT, UsageError } from '../../errors.ts';
import type { AlertState } from '../../alerts/store.ts';
import { command, configOption, flag, flagConflict } from '../command.ts';
import { requireUsable, hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import { column, type PrintedColumn, fields, tableOf } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';

export const alerts = command({
  about:
    'List alerts, or send a test alert. The page on operations in the documentation describes when Sluice sends alerts, and what they contain. Needs no token.\n\n' +
    '- list (the default): show the active alerts; with --all, every alert that was ever raised, active alerts first.\n' +
    '- test: send a test alert to the webhook and to the command of the config. The exit code is 5 if one of them did not accept it.',
  options: {
    ...configOption,
    all: flag('For list: show alerts that are over, too.'),
  },
  positionals: { action: { takes: 'optional', choices: ['list', 'test'], about: 'The action.' } },
  examples: [
    { line: 'sluice alerts', about: 'List active alerts.' },
    { line: 'sluice alerts test', about: 'Check that alerts arrive.' },
  ],
  run: async ({ action = 'list', all, config: flag }, context) => {
    const config = await readConfig(context, flag);
    if (action === 'list') {
      const found = await withWarehouseToRead(context, config, async (warehouse) => {
        if (!(await hasSchema(warehouse))) return [];
        const [{ listAlerts }, { operationsOf }] = await Promise.all([
          import('../../alerts/store.ts'),
          import('../../warehouse/connect/operations-db.ts'),
        ]);
        return listAlerts(operationsOf(warehouse), all ? 'all' : 'active');
      });
      const none = all ? 'no alert has been raised\n' : 'no alert is active\n';
      show(context, 'alerts/1', found, () => tableOf(found, context.out, COLUMNS) || none);
      return EXIT.complete;
    }
    if (all) throw flagConflict('alerts', ['--all', 'test'], { because: 'test lists nothing' });
    requireUsable(config, ['alerts.webhook']);
    if (!config.alerts) {
      throw new UsageError(`alerts: ${config.file} has no webhook and no command for alerts`, {
        next: 'Add alerts: { webhook: "${SLUICE_ALERT_WEBHOOK}" } and set that variable, or add a command.',
      });
    }
    const [{ channelsOf }, { testPayload }] = await Promise.all([
      import('../../alerts/channels.ts'),
      import('../../alerts/payload.ts'),
    ]);
    const { sleep, env, redactor } = context;
    const results: DeliveryTest[] = [];
    for (const { name, send } of channelsOf(config.alerts, { sleep, env, redact: redactor.redact })) {
      const delivery = await send(testPayload(context.now()));
      results.push({ channel: name, ok: delivery.ok, because: delivery.ok ? null : delivery.because });
    }
    show(context, 'alerts-test/1', results, () =>
      results.map((it) => `${it.channel}: ${it.because ?? 'accepted the test alert'}\n`).join(''),
    );
    return results.every(({ ok }) => ok) ? EXIT.complete : EXIT.transient;
  },
});

interface DeliveryTest {
  readonly channel: string;
  readonly ok: boolean;
  readonly because: string | null;
}

const COLUMNS: readonly PrintedColumn<AlertState>[] = [
  column('sync', (it) => it.sync),
  column('kind', (it) => it.kind.replaceAll('_', ' ')),
  ...fields('state', 'since'),
  column('reason', (it) => it.because),
];
