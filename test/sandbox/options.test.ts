/** Faults, sizes and other options as people write them. */
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { FAULT_SYNTAX, parseFault, parseFaults } from '../../src/sandbox/fault-text.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { sizeOf } from '../../src/sandbox/world/size.ts';

describe('the text of a fault', () => {
  it.each([
    ['503:0.05', { on: { rate: 0.05 }, do: { kind: 'status', status: 503 } }],
    ['429=2:10%', { on: { rate: 0.1 }, do: { kind: 'status', status: 429, headers: { 'retry-after': '2' } } }],
    ['slow=2000:0.1', { on: { rate: 0.1 }, do: { kind: 'slow', ms: 2000 } }],
    ['cut:0.02', { on: { rate: 0.02 }, do: { kind: 'cut', afterBytes: 100 } }],
    ['cut=7', { on: {}, do: { kind: 'cut', afterBytes: 7 } }],
    ['reset=before@3', { on: { nth: 3 }, do: { kind: 'reset', stage: 'before' } }],
    ['reset', { on: {}, do: { kind: 'reset', stage: 'body' } }],
    ['malformed:1', { on: { rate: 1 }, do: { kind: 'malformed', body: '[{"@type": "@' } }],
    ['html/pronet.group', { on: { endpoint: 'pronet.group' }, do: { kind: 'html' } }],
    [
      'empty@2/pronet.search.users',
      { on: { endpoint: 'pronet.search.users', nth: 2 }, do: { kind: 'body', items: [] } },
    ],
    ['out-of-points@40', { on: { nth: 40 }, do: { kind: 'out_of_points', status: 401 } }],
    ['out-of-points=402@40', { on: { nth: 40 }, do: { kind: 'out_of_points', status: 402 } }],
    [' revoked@9 ', { on: { nth: 9 }, do: { kind: 'revoked' } }],
  ] as const)('%s is read', (text, fault) => {
    expect(parseFault(text)).toEqual(fault);
  });

  it('may list several', () => {
    expect(parseFaults('503:0.05, cut:0.02,,html')).toHaveLength(3);
    expect(parseFaults('')).toEqual([]);
  });

  it.each([
    ['fast:0.1', 'The fault "fast:0.1" is not valid: the kind "fast" is unknown.'],
    ['503:5', 'The fault "503:5" is not valid: the rate 5 is not a number from 0 to 1.'],
    ['999', 'The fault "999" is not valid: 999 is not a status from 200 to 599.'],
    ['slow', 'The fault "slow" is not valid: slow needs a value.'],
    ['slow=often', 'The fault "slow=often" is not valid: "often" is not a value of slow.'],
    ['html=1', 'The fault "html=1" is not valid: "1" is not a value of html.'],
    ['cut@0', 'The fault "cut@0" is not valid: requests are counted from 1.'],
    ['out-of-points=500', 'The fault "out-of-points=500" is not valid: "500" is not a value of out-of-points.'],
    ['503 often', 'The fault "503 often" is not valid: it does not have the syntax of a fault.'],
    ['constructor', 'The fault "constructor" is not valid: the kind "constructor" is unknown.'],
  ])('%s is refused with a reason and the syntax', (text, message) => {
    expect(() => parseFault(text)).toThrow(message);
    try {
      parseFault(text);
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      expect((error as UsageError).next).toBe(`Write ${FAULT_SYNTAX}.`);
    }
  });

  it('names the endpoints when one is unknown', () => {
    expect(() => parseFault('html/pronet.grop')).toThrow(
      /the endpoint pronet\.grop is unknown; allowed are token\.requests, /,
    );
  });
});

describe('a size', () => {
  it('is a name or numbers', () => {
    expect(sizeOf({ people: 100_000 }).people).toBe(100_000);
    expect(() => sizeOf('huge' as 'demo')).toThrow('The sandbox has no size "huge"; sizes are demo, small, large.');
    expect(() => sizeOf({ cats: 9 } as object)).toThrow('The sandbox has no "cats"; sizes are filings, people,');
  });
});

describe('options that are none', () => {
  it.each([
    [{ size: { people: 1.5 } }, 'The size people=1.5 is not a whole number from 0 to 10000000.'],
    [{ size: { filings: 20_000_000 } }, 'The size filings=20000000 is not a whole number from 0 to 10000000.'],
    [{ size: 'huge' as 'large' }, 'The sandbox has no size "huge"; sizes are demo, small, large.'],
    [{ points: -1 }, 'The sandbox option points is -1; allowed is 0 or more.'],
    [{ latencyMs: Number.NaN }, 'The sandbox option latency is NaN; allowed is 0 or more.'],
  ])('%j is refused', async (options, message) => {
    await expect(serveSandbox(options)).rejects.toThrow(message);
    await expect(serveSandbox(options)).rejects.toBeInstanceOf(UsageError);
  });
});
