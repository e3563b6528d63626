/** The page on operations: its tables are what the code says, both ways. */
import { expect, it } from 'vitest';
import { payloadOf, testPayload } from '../../src/alerts/payload.ts';
import { ALERT_KINDS } from '../../src/config/alerts.ts';
import { DURATION, metrics } from '../../src/monitor/metrics.ts';
import { pageOf } from './shell-blocks.ts';

const page = await pageOf('docs/operations.md');

/** The rows of the table below this head, without their marks. */
function rowsBelow(head: string): string[][] {
  const lines = page
    .slice(page.indexOf(`${head}\n`))
    .split('\n')
    .slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((it) => it.trim()),
  );
}

it('the operations page describes every metric as it is declared', () => {
  const declared = Object.entries(metrics).map(([name, { help, labels }]) => [
    `\`${name}\``,
    name === DURATION ? 'histogram' : 'gauge',
    labels.map((it) => `\`${it}\``).join(', '),
    help,
  ]);
  expect(rowsBelow('| metric | type | labels | says |')).toEqual(declared);
});

it('the operations page describes every kind of alert and every field of a payload', () => {
  const kinds = rowsBelow('| kind | is raised when | is over when |').map(([kind]) => kind);
  expect(kinds.toSorted()).toEqual(ALERT_KINDS.map((it) => `\`${it}\``).toSorted());
  const fields = rowsBelow('| field | holds |').map(([field]) => field);
  const state = {
    sync: 'a',
    kind: 'failed',
    state: 'raised',
    because: '',
    next: '',
    runId: '',
    webhookAt: null,
    commandAt: null,
  } as const;
  const payload = payloadOf({ ...state, since: new Date(0) }, (text) => text);
  expect(fields).toEqual(Object.keys(payload).map((it) => `\`${it}\``));
  expect(Object.keys(testPayload(new Date(0)))).toEqual(Object.keys(payload));
});
