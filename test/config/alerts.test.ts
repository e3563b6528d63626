import { expect, it } from 'vitest';
import { HEAD, inFolder, load, fileProblems } from './written.ts';
import { loadConfig } from '../../src/config/load.ts';

const SYNCS = '  a: { endpoint: token.requests }\n';
const of = (alerts: string): string => `${HEAD}${SYNCS}alerts: ${alerts}\n`;
const CANARY = 'https://hooks.example.com/canary?x=1';

it('alerts are read, with defaults for what is not set', async () => {
  const { alerts } = await load(of('{ webhook: "${HOOK}" }'), { HOOK: CANARY });
  expect(alerts?.webhook?.reveal()).toBe(CANARY);
  expect(JSON.stringify(alerts)).not.toContain('canary');
  expect(alerts).toMatchObject({
    command: undefined,
    on: [
      'failed',
      'partial',
      'out_of_points',
      'forecast',
      'quarantine',
      'budget',
      'check',
      'contract',
      'price',
      'access',
      'counts',
    ],
    quarantine: 0,
    forecastMs: 7 * 86_400_000,
  });
  const more = await load(of('{ command: [notify, "a b"], on: [failed], quarantine: 3, forecast: 2d }'));
  expect(more.alerts).toEqual({
    webhook: undefined,
    command: ['notify', 'a b'],
    on: ['failed'],
    quarantine: 3,
    forecastMs: 2 * 86_400_000,
  });
});

it('alerts take the webhook from a file', () =>
  inFolder({ 'sluice.yaml': of('{ webhook: "${HOOK}" }'), hook: `${CANARY}\n` }, async (folder) => {
    const { alerts } = await loadConfig(`${folder}/sluice.yaml`, { HOOK_FILE: `${folder}/hook` });
    expect(alerts?.webhook?.reveal()).toBe(CANARY);
  }));

it('alerts are off without a webhook or a command, and an unset variable is no webhook', async () => {
  expect((await load(of('{ webhook: "${HOOK}" }'))).alerts).toBeUndefined();
  expect((await load(of('{ webhook: "${HOOK}" }'), { HOOK: '' })).alerts).toBeUndefined();
  expect((await load(of('{ quarantine: 3 }'))).alerts).toBeUndefined();
  expect((await load(`${HEAD}${SYNCS}`)).alerts).toBeUndefined();
});

it('alerts are off if the variable of the webhook has no valid value, and the problem is a part of the config', async () => {
  const { alerts, unusable } = await load(of('{ webhook: "${HOOK}" }'), { HOOK: 'canary' });
  expect([alerts, unusable?.settings]).toEqual([undefined, ['alerts.webhook']]);
  const both = await load(of('{ webhook: "${HOOK}", command: [notify] }'), { HOOK_FILE: '/nowhere' });
  expect(both.alerts).toMatchObject({ webhook: undefined, command: ['notify'] });
  expect(both.unusable?.error.message).toContain('HOOK_FILE names "/nowhere", which can\'t be read (ENOENT)');
});

const WEBHOOK =
  'webhook is not an address to post to; allowed is an http or https address without a login, such as https://hooks.example.com/abc';
it.each([
  ['{ webhook: "ftp://canary" }', `5:20: ${WEBHOOK}`],
  ['{ webhook: "https://user:canary@h/x" }', `5:20: ${WEBHOOK}`],
  ['{ webhook: "canary" }', `5:20: ${WEBHOOK}`],
  ['{ webhook: "${HOOK}" }', `5:20: ${WEBHOOK}`],
  [
    '{ webhok: "https://h/x" }',
    '5:11: unknown key "webhok"; did you mean "webhook"? allowed: webhook, command, on, quarantine, forecast',
  ],
  [
    '{ command: notify }',
    '5:20: command is "notify"; allowed is a list of words: the program and its arguments; they are not passed to a shell',
  ],
  [
    '{ command: [] }',
    '5:20: command is an empty list; allowed is a list of words: the program and its arguments; they are not passed to a shell',
  ],
  [
    '{ command: [x], on: [faild] }',
    '5:30: on is "faild"; did you mean "failed"? allowed is one of failed, partial, out_of_points, forecast, quarantine, budget, check, contract, price, access, counts',
  ],
  ['{ command: [x], quarantine: -1 }', '5:37: quarantine is -1; allowed is a whole number of at least 0'],
  [
    '{ command: [notify, "--url=${GOOD}"], webhook: "${GOOD}" }',
    '5:29: a word of the command contains a secret, which other users of the machine could read; let the program read the secret itself',
  ],
])('alerts refuse %s with its place, without the secret', async (alerts, problem) => {
  const problems = await fileProblems(of(alerts), { HOOK: 'canary', GOOD: CANARY });
  expect(problems).toEqual([problem]);
  expect(problems.join()).not.toContain('canary');
});
