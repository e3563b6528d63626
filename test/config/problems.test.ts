/** What is refused, where, and in which words. */
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import type { ConfigError } from '../../src/config/document/problem.ts';
import { catalog } from '../../src/service/catalog.ts';
import { HEAD, inFolder, fileProblems, problemsOf, unmarked } from './written.ts';

/** Lines of syncs with a « before each refused position, and the messages. */
type Case = readonly [name: string, lines: string, ...problems: string[]];

const ENDPOINTS = catalog.map(({ name }) => name).join(', ');
const SEC = 'endpoint: sec.search.companies';
const PEOPLE = 'endpoint: pronet.search.users';
const CURSOR =
  'cursor is filled in by paging, because each page decides the next one, and the order of the log is not documented; remove it, and set start_time or end_time';

describe('a sync', () => {
  it.each<Case>([
    ['without an endpoint', '  «a: { request: {} }', 'missing: endpoint (allowed is text)'],
    [
      'of an unknown endpoint',
      '  a: { endpoint: «photoshare.users }',
      `endpoint is "photoshare.users", which the service doesn't have; did you mean "photoshare.user"? allowed: ${ENDPOINTS}`,
    ],
    [
      'of an endpoint written as its path',
      '  a: { endpoint: «/api/pronet/group }',
      `endpoint is "/api/pronet/group", which the service doesn't have; did you mean "pronet.group"? allowed: ${ENDPOINTS}`,
    ],
    [
      'with a misspelled choice',
      '  a: { endpoint: token.requests, in_doubt: «stopp }',
      'in_doubt is "stopp"; did you mean "stop"? allowed is one of reconcile, stop',
    ],
    [
      'with a time that is none',
      '  a: { endpoint: token.requests, request: { start_time: «yesterday } }',
      'start_time is "yesterday"; must be an instant such as 2024-01-01T00:00:00Z',
    ],
    [
      'that is no mapping',
      '  a: «3',
      'this is 3; allowed is a mapping with the keys endpoint, request, for_each, window, split_by, raise_count_to, after, max_age, schedule, budget, tags, accept, in_doubt, in_flight, checks, lookback, from',
    ],
    [
      'with a name that can be none',
      '  «Big-Tech: { endpoint: token.requests }',
      '"Big-Tech" can\'t be the name of a sync; allowed are at most 63 lower-case letters, digits and _, beginning with a letter',
    ],
    [
      'with a name too long',
      `  «${'a'.repeat(64)}: { endpoint: token.requests }`,
      `"${'a'.repeat(64)}" can't be the name of a sync; allowed are at most 63 lower-case letters, digits and _, beginning with a letter`,
    ],
    [
      'with a misspelled key',
      '  a: { endpoint: token.requests, «max_ago: 7d }',
      'unknown key "max_ago"; did you mean "max_age"? allowed: endpoint, request, for_each, window, split_by, raise_count_to, after, max_age, schedule, budget, tags, accept, in_doubt, in_flight, checks, lookback, from',
    ],
    [
      'twice',
      '  a: { endpoint: token.requests }\n  «a: { endpoint: token.requests }',
      'the key "a" is written twice; the first is on line 4',
    ],
    [
      'with the same key written in two ways',
      '  a: { endpoint: pronet.group, request: { 1: x, «"1": y } }',
      'the key "1" is written twice; the first is on line 4',
    ],
    [
      'with no age',
      '  a: { endpoint: token.requests, max_age: «0d }',
      'max_age is "0d"; omit max_age to request anew in each run',
    ],
    [
      'with an age that is none',
      '  a: { endpoint: token.requests, max_age: «7 days }',
      'max_age is "7 days"; allowed is a duration, a whole number with the unit s, m, h, d or w, such as 7d, or { auto: [1d, 30d] } to learn it within these bounds',
    ],
    [
      'with a number for an age',
      '  a: { endpoint: token.requests, max_age: «7 }',
      'max_age is 7; allowed is a duration, a whole number with the unit s, m, h, d or w, such as 7d, or { auto: [1d, 30d] } to learn it within these bounds',
    ],
    [
      'with an age beyond a century',
      '  a: { endpoint: token.requests, max_age: «99999w }',
      'max_age is "99999w"; allowed is at most a century, 36525d',
    ],
    [
      'with a wrong in_doubt',
      '  a: { endpoint: token.requests, in_doubt: «ask }',
      'in_doubt is "ask"; allowed is one of reconcile, stop',
    ],
    [
      'with too many rejects',
      '  a: { endpoint: token.requests, accept: { rejects: «101% } }',
      'rejects is "101%"; allowed is a share from 0% to 100%, such as 1% or 0.01',
    ],
    [
      'with a share above one',
      '  a: { endpoint: token.requests, accept: { rejects: «5 } }',
      'rejects is 5; allowed is a share from 0% to 100%, such as 1% or 0.01',
    ],
    [
      'with a budget of half a point',
      '  a: { endpoint: token.requests, budget: { per_run: «0.5 } }',
      'per_run is 0.5; allowed is a whole number of at least 0',
    ],
    [
      'with a budget beyond the exact numbers',
      '  a: { endpoint: token.requests, budget: { per_run: «9007199254740993 } }',
      'per_run is 9007199254740993; allowed is a whole number of at least 0 and at most 9007199254740991',
    ],
  ])('%s', async (_, lines, ...problems) => {
    const { text, places } = unmarked(lines);
    expect(await problemsOf(text)).toEqual(problems.map((problem, at) => `${places[at]}: ${problem}`));
  });
});

describe('a request', () => {
  it.each<Case>([
    [
      'that is missing',
      '  «a: { endpoint: photoshare.user.posts }',
      'missing: request.user (allowed is text that is not empty), request.count (allowed is a whole number of at least 1)',
    ],
    [
      'that is empty',
      '  a:\n    endpoint: photoshare.user.posts\n    for_each: { user: [x] }\n    «request:',
      'missing: count (allowed is a whole number of at least 1)',
    ],
    [
      'with a missing field',
      '  a:\n    endpoint: photoshare.user.posts\n    «request: { user: x }',
      'missing: count (allowed is a whole number of at least 1)',
    ],
    [
      'that is a list',
      `  a: { ${SEC}, request: «[count] }`,
      'this is a list; allowed is a mapping with the keys count, timeout, entity_name, forms, location_codes, date_from, date_to',
    ],
    [
      'with a text for a number',
      `  a: { ${SEC}, request: { count: «ten } }`,
      'count is "ten"; allowed is a whole number from 1 to 100',
    ],
    [
      'with a quoted number',
      `  a: { ${SEC}, request: { count: «"10" } }`,
      'count is "10"; allowed is a whole number from 1 to 100',
    ],
    [
      'with a fraction',
      `  a: { ${SEC}, request: { count: «1.5 } }`,
      'count is 1.5; allowed is a whole number from 1 to 100',
    ],
    [
      'with null where a value is due',
      `  a: { ${SEC}, request: { count: 1, entity_name: «} }`,
      'entity_name is null; allowed is text',
    ],
    [
      'with a text for a list',
      `  a: { ${SEC}, request: { count: 1, forms: «10-K } }`,
      'forms is "10-K"; allowed is a list, each element text',
    ],
    [
      'with a mapping in a list',
      `  a: { ${SEC}, request: { count: 1, forms: [«{ a: 1 }] } }`,
      'forms is a mapping; allowed is text',
    ],
    [
      'with a day that is none',
      `  a: { ${SEC}, request: { count: 1, date_from: «2023-02-29, date_to: «1.2.2024 } }`,
      'date_from is "2023-02-29"; must be a day of the calendar',
      'date_to is "1.2.2024"; must be a date written YYYY-MM-DD',
    ],
    [
      'with yes for true',
      '  a: { endpoint: photoshare.user, request: { user: x, with_posts: «yes } }',
      'with_posts is "yes"; allowed is true or false',
    ],
    [
      'with an address too short',
      '  a: { endpoint: webparser.parse, request: { url: «"http://a" } }',
      'url is "http://a"; allowed is text of 10 to 2083 characters',
    ],
    [
      'with an address that is none',
      '  a: { endpoint: webparser.parse, request: { url: «"ftp://a.example/" } }',
      'url is "ftp://a.example/"; must be an absolute http or https address',
    ],
    [
      'with a timeout out of bounds',
      '  a: { endpoint: pronet.group, request: { group: x, timeout: «1501 } }',
      'timeout is 1501; allowed is a whole number from 20 to 1500',
    ],
    [
      'with a URN of the wrong type',
      '  a: { endpoint: pronet.post.reposts, request: { count: 1, urn: { type: «fsd_profile, value: 1 } } }',
      'type is "fsd_profile"; only URNs of type activity are allowed here, found "fsd_profile"',
    ],
    [
      'with an alias for a URN',
      '  a: { endpoint: pronet.user.education, request: { count: 1, urn: «ada } }',
      'urn is "ada"; allowed is a URN of type fsd_profile, written fsd_profile:VALUE, urn:li:fsd_profile:VALUE or { type: fsd_profile, value: VALUE }',
    ],
    [
      'with half a URN where names are taken',
      `  a: { ${PEOPLE}, request: { count: 1, location: [«"urn:li:geo"] } }`,
      'location is "urn:li:geo"; allowed is a name or a URN, written urn:li:TYPE:VALUE or { type: TYPE, value: VALUE }',
    ],
    ...['«"urn:li:fsd_company:1"', '«"fsd_company:1"'].map((written): [string, string, string] => [
      `with a URN of a company where places are taken, written ${written}`,
      `  a: { ${PEOPLE}, request: { count: 1, location: [Berlin, ${written}] } }`,
      `location is ${written.slice(1)}; only names and URNs of type geo are allowed here, found "fsd_company"`,
    ]),
    [
      'with a URN of a person where companies are taken',
      `  a: { ${PEOPLE}, request: { count: 1, past_company: [{ type: «fsd_profile, value: 1 }] } }`,
      'type is "fsd_profile"; only names and URNs of type fsd_company, company, school are allowed here, found "fsd_profile"',
    ],
    [
      'with a long text, cut short',
      `  a: { ${SEC}, request: { count: «${'x'.repeat(2000)} } }`,
      `count is "${'x'.repeat(60)}… (2000 characters)"; allowed is a whole number from 1 to 100`,
    ],
    [
      'with a field that paging fills in',
      '  a: { endpoint: token.requests, request: { «cursor: "2024-01-01T00:00:00Z" } }',
      CURSOR,
    ],
    [
      'with NUL',
      '  a: { endpoint: pronet.group, request: { group: «"a\\0b" } }',
      'the text contains a NUL character; remove it',
    ],
    [
      'with half a surrogate pair',
      '  a: { endpoint: pronet.group, request: { group: «"\\uD83D" } }',
      'the text contains half of a surrogate pair; write the complete character',
    ],
    [
      'with a key of the prototype',
      '  a: { endpoint: pronet.group, request: { group: x, «__proto__: { x: 1 } } }',
      'unknown key "__proto__"; allowed: group, timeout',
    ],
  ])('%s', async (_, lines, ...problems) => {
    const { text, places } = unmarked(lines);
    expect(await problemsOf(text)).toEqual(problems.map((problem, at) => `${places[at]}: ${problem}`));
  });
});

describe('inputs', () => {
  const GROUP = 'endpoint: pronet.group';
  const forms =
    'allowed are a mapping of request fields to their values, a list of mappings of request fields, { file: PATH } or { query: SQL }';
  it.each<Case>([
    [
      'in two places',
      `  a: { ${GROUP}, request: { «group: x }, for_each: { group: [y] } }`,
      'group is set by both request and for_each; remove one of them',
    ],
    [
      'of an unknown field',
      `  a: { ${GROUP}, for_each: { «groop: [y] } }`,
      'pronet.group has no field "groop"; did you mean "group"? allowed: group, timeout',
    ],
    ['of a field that paging fills in', '  a: { endpoint: token.requests, for_each: { «cursor: [y] } }', CURSOR],
    [
      'of a wrong URN type',
      '  a: { endpoint: pronet.user.education, request: { count: 1 }, for_each: { urn: ["fsd_profile:1", «"activity:2"] } }',
      'urn is "activity:2"; only URNs of type fsd_profile are allowed here, found "activity"',
    ],
    [
      'of a wrong URN type where names are taken',
      `  a: { ${PEOPLE}, request: { count: 1 }, for_each: { industry: [Retail, «"geo:2"] } }`,
      'industry is "geo:2"; only names and URNs of type industry are allowed here, found "geo"',
    ],
    [
      'of none',
      `  a: { ${GROUP}, for_each: { group: «[] } }`,
      'for_each.group is an empty list; allowed is a list of values, { file: PATH } or { query: SQL }; write a single value under request',
    ],
    [
      'of one value',
      `  a: { ${GROUP}, for_each: { group: «x } }`,
      'for_each.group is "x"; allowed is a list of values, { file: PATH } or { query: SQL }; write a single value under request',
    ],
    [
      'with a null',
      `  a: { ${GROUP}, for_each: { group: [x, «null] } }`,
      'group is null; allowed is text that is not empty',
    ],
    [
      'with a null where the field may be null',
      `  a: { ${SEC}, request: { count: 1 }, for_each: { forms: [«null] } }`,
      'an input of forms is null; allowed is a value',
    ],
    [
      'with a mapping of nulls',
      `  a: { ${SEC}, request: { count: 1 }, for_each: [{ entity_name: A, forms: null }, «{ entity_name: null }] }`,
      'every field of an input is null; allowed is at least one value',
    ],
    ['in no form', `  a: { ${GROUP}, for_each: «3 }`, `for_each is 3; ${forms}`],
    ['in an empty list', `  a: { ${GROUP}, for_each: «[] }`, `for_each is an empty list; ${forms}`],
    [
      'in a list of texts',
      `  a: { ${GROUP}, for_each: [«x] }`,
      'an input is "x"; allowed is a mapping of request fields, or write for_each: { FIELD: [...] }',
    ],
    [
      'from a file with a strange key',
      `  a: { ${GROUP}, for_each: { group: { file: x.csv, «colum: y } } }`,
      '"colum" is not allowed next to file; did you mean "column"? allowed: file, column',
    ],
    [
      'from a file and a query',
      `  a: { ${GROUP}, for_each: { file: x.csv, «query: select } }`,
      '"query" is not allowed next to file; allowed: file',
    ],
    [
      'from a query that is empty',
      `  a: { ${GROUP}, for_each: { group: { query: «" " } } }`,
      'query is " "; allowed is text that is not empty',
    ],
    [
      'from a file that is a list',
      `  a: { ${GROUP}, for_each: { group: { file: «[x] } } }`,
      'file is a list; allowed is text that is not empty',
    ],
  ])('%s', async (_, lines, ...problems) => {
    const { text, places } = unmarked(lines);
    expect(await problemsOf(text)).toEqual(problems.map((problem, at) => `${places[at]}: ${problem}`));
  });
});

describe('a window', () => {
  const ASK = `${SEC}, request: { count: 1 }`;
  it.each<Case>([
    [
      'for what has no dates',
      `  a: { ${PEOPLE}, request: { count: 1 }, «window: { from: 2024-01-01 } }`,
      "pronet.search.users can't be limited by dates, so it takes no window; remove it",
    ],
    [
      'without a beginning',
      `  a: { ${ASK}, «window: { to: today } }`,
      'missing: from (allowed is a day written YYYY-MM-DD)',
    ],
    [
      'that ends before it begins',
      `  a: { ${ASK}, window: { from: «2024-02-01, to: 2024-01-31 } }`,
      'from is 2024-02-01, after to, 2024-01-31; allowed is a first day on or before the last',
    ],
    [
      'that ends tomorrow',
      `  a: { ${ASK}, window: { from: 2024-02-01, to: «tomorrow } }`,
      'to is "tomorrow"; allowed is today, or a day written YYYY-MM-DD',
    ],
    [
      'of days of the request that ends before it begins',
      `  a: { ${SEC}, request: { count: 1, date_from: 2024-02-01, «date_to: 2024-01-31 } }`,
      'date_from is 2024-02-01, after date_to, 2024-01-31; allowed is a first one on or before the last',
    ],
    [
      'of instants of the request that ends before it begins',
      '  a: { endpoint: token.requests, request: { start_time: "2024-02-01T12:00:00+02:00", «end_time: "2024-02-01T09:59:59Z" } }',
      'start_time is 2024-02-01T12:00:00+02:00, after end_time, 2024-02-01T09:59:59Z; allowed is a first one on or before the last',
    ],
    [
      'beside its own dates',
      `  a: { ${SEC}, request: { count: 1, «date_from: 2024-01-01 }, window: { from: 2024-01-01 } }`,
      'date_from is filled in by window; remove it, or remove window',
    ],
    [
      'beside inputs of its dates',
      `  a: { ${ASK}, «for_each: { date_to: [2024-01-01] }, window: { from: 2024-01-01 } }`,
      'date_to is filled in by window; remove it, or remove window',
    ],
    [
      'with its lookback outside',
      `  a: { ${ASK}, «lookback: 7d, window: { from: 2024-01-01 } }`,
      'lookback is for token.requests only, and this is sec.search.companies; write window: { lookback: ... }',
    ],
    [
      'with from outside',
      `  a: { ${PEOPLE}, request: { count: 1 }, «from: 2024-01-01 }`,
      'from is for token.requests only, and this is pronet.search.users; remove it',
    ],
    [
      'of the log that begins at no instant',
      '  a: { endpoint: token.requests, from: «last year }',
      'from is "last year"; allowed is a day written YYYY-MM-DD, or an instant such as 2024-01-01T00:00:00Z',
    ],
    [
      'of the log that begins twice',
      '  a: { endpoint: token.requests, from: 2024-01-01, request: { «start_time: "2024-01-01T00:00:00Z" } }',
      'start_time is filled in by from; remove one of them',
    ],
    [
      'of the log that has its own end',
      '  a: { endpoint: token.requests, from: 2024-01-01, request: { «end_time: "2024-02-01T00:00:00Z" } }',
      'end_time fixes the times of the log, so from has no effect; write start_time instead of from',
    ],
  ])('%s', async (_, lines, ...problems) => {
    const { text, places } = unmarked(lines);
    expect(await problemsOf(text)).toEqual(problems.map((problem, at) => `${places[at]}: ${problem}`));
  });
});

describe('raise_count_to', () => {
  it.each([
    [
      'where no number of results is asked for',
      '  a: { endpoint: pronet.group, request: { group: x }, «raise_count_to: 10 }',
      'pronet.group has no count to raise; remove raise_count_to',
    ],
    [
      'below the count that is asked first',
      `  a: { ${PEOPLE}, request: { count: 100 }, raise_count_to: «99 }`,
      'raise_count_to is 99; allowed is a whole number of at least 100, the count of the first request, and at most 1000, the limit of pronet.search.users',
    ],
    [
      'beyond what the endpoint takes',
      `  a: { ${SEC}, for_each: { count: [10] }, raise_count_to: «101 }`,
      'raise_count_to is 101; allowed is a whole number of at least 1 and at most 100, the limit of sec.search.companies',
    ],
    [
      'below the count of an endpoint without a bound',
      '  a: { endpoint: photoshare.user.posts, request: { user: x, count: 12 }, raise_count_to: «11 }',
      'raise_count_to is 11; allowed is a whole number of at least 12, the count of the first request',
    ],
    [
      'that is no number',
      '  a: { endpoint: photoshare.user.posts, request: { user: x, count: 12 }, raise_count_to: «all }',
      'raise_count_to is "all"; allowed is a whole number of at least 1',
    ],
  ])('%s', async (_, lines, problem) => {
    const { text, places } = unmarked(lines);
    expect(await problemsOf(text)).toEqual([`${places[0]}: ${problem}`]);
  });
});

describe('split_by', () => {
  it.each<Case>([
    [
      'where nothing can be split',
      '  a: { endpoint: pronet.group, request: { group: x }, «split_by: { group: [x] } }',
      "pronet.group has no list field, so its full answers can't be split; remove split_by",
    ],
    [
      'of a field that is no list',
      `  a: { ${SEC}, request: { count: 1 }, split_by: { «entity_name: [x] } }`,
      '"entity_name" can\'t be split by; allowed: forms, location_codes',
    ],
    [
      'of no field',
      `  a: { ${SEC}, request: { count: 1 }, split_by: «{} }`,
      'split_by is an empty mapping; allowed is a mapping of forms, location_codes to lists of values',
    ],
    [
      'of no values',
      `  a: { ${SEC}, request: { count: 1 }, split_by: { forms: «[] } }`,
      'forms is an empty list; allowed is a list of values',
    ],
    [
      'of a misspelled industry',
      `  a: { ${PEOPLE}, request: { count: 1 }, split_by: { industry: «toplevel } }`,
      'industry is "toplevel"; allowed is a list of values, or top_level for every top-level industry',
    ],
    [
      'of a form that excludes',
      `  a: { ${SEC}, request: { count: 1, forms: [-10-K] }, split_by: { forms: [10-Q, «-10-K] } }`,
      'forms is "-10-K", which excludes; allowed in split_by are values without a leading -',
    ],
    [
      'of a wrong value',
      `  a: { ${PEOPLE}, request: { count: 1 }, split_by: { industry: [«{ x: 1 }] } }`,
      'industry is a mapping; allowed is a name or a URN, written urn:li:TYPE:VALUE or { type: TYPE, value: VALUE }',
    ],
  ])('%s', async (_, lines, ...problems) => {
    const { text, places } = unmarked(lines);
    expect(await problemsOf(text)).toEqual(problems.map((problem, at) => `${places[at]}: ${problem}`));
  });
});

describe('the order', () => {
  it('needs parents that are there', async () => {
    expect(
      await problemsOf(
        '  people: { endpoint: token.requests }\n  b: { endpoint: token.requests, after: [people, poeple] }',
      ),
    ).toEqual([
      '5:50: after names "poeple", which is not a sync of this config; did you mean "people"? allowed: people, b',
    ]);
  });

  it('allows no cycle, and names it', async () => {
    const lines = [
      '  a: { endpoint: token.requests }',
      '  b: { endpoint: token.requests, after: [a, d] }',
      '  c: { endpoint: token.requests, after: [b] }',
      '  d: { endpoint: token.requests, after: [c] }',
    ];
    expect(await problemsOf(lines.join('\n'))).toEqual([
      '5:34: after forms a cycle: b after d after c after b; remove one of these',
    ]);
  });

  it('allows no sync after itself', async () => {
    expect(await problemsOf('  a: { endpoint: token.requests, after: [a] }')).toEqual([
      '4:34: after forms a cycle: a after a; remove one of these',
    ]);
  });

  it('takes a list of names', async () => {
    expect(await problemsOf('  a: { endpoint: token.requests, after: b }\n  b: { endpoint: token.requests }')).toEqual([
      '4:41: after is "b"; allowed is a list of names of syncs',
    ]);
  });
});

describe('a schedule', () => {
  it.each([
    [
      '{ cron: "0 6 * *" }',
      '4:52: cron: 4 fields found; allowed are five: minute, hour, day of the month, month, day of the week, such as "15 6 * * 1-5"',
    ],
    [
      '{ cron: "60 6 * * *" }',
      '4:52: cron: "60" is not a valid minute; allowed are *, numbers from 0 to 59, ranges (1-5), steps (*/15) and lists of these with commas',
    ],
    [
      '{ cron: "0 6 * * 1-5", timezone: Mars }',
      '4:77: timezone is "Mars"; allowed is an IANA name such as America/New_York',
    ],
    [
      '{ cron: "0 6 * * 1-5", timezone: New York }',
      '4:77: timezone is "New York"; allowed is an IANA name such as America/New_York; did you mean "America/New_York"?',
    ],
    [
      '{ cron: "0 6 * * 1-5", timezone: America/New_Yrok }',
      '4:77: timezone is "America/New_Yrok"; allowed is an IANA name such as America/New_York; did you mean "America/New_York"?',
    ],
    [
      '{ timezone: UTC }',
      '4:44: schedule is a mapping; allowed is a cron expression, read in UTC, or { cron, timezone }',
    ],
    [
      '"0 6 * *"',
      '4:44: cron: 4 fields found; allowed are five: minute, hour, day of the month, month, day of the week, such as "15 6 * * 1-5"',
    ],
  ])('%s', async (schedule, problem) => {
    expect(await problemsOf(`  a: { endpoint: token.requests, schedule: ${schedule} }`)).toEqual([problem]);
  });
});

describe('the settings', () => {
  const SYNCS = 'syncs: { a: { endpoint: token.requests } }\n';
  const URL_WORDS =
    'allowed is an http or https address without a login, a query or a fragment, such as https://api.example.com';
  it.each([
    ['ftp://a.example', `1:17: url is "ftp://a.example"; ${URL_WORDS}`],
    ['http://u:p@a.example', `1:17: url is "http://***@a.example"; ${URL_WORDS}`],
    ['http://a.example/?x=1', `1:17: url is "http://a.example/?x=1"; ${URL_WORDS}`],
    ['a.example', `1:17: url is "a.example"; ${URL_WORDS}`],
  ])('refuse the service address %s', async (url, problem) => {
    expect(await fileProblems(`service: { url: "${url}" }\nwarehouse: { url: "embedded:x" }\n${SYNCS}`)).toEqual([
      problem,
    ]);
  });

  it.each([
    ['in_flight: 0', 'in_flight is 0; allowed is a whole number from 1 to 1000'],
    ['requests_per_second: 0', 'requests_per_second is 0; allowed is a number above 0'],
    ['requests_per_second: .inf', 'requests_per_second is .inf; allowed is a number above 0'],
    ['retries: -1', 'retries is -1; allowed is a whole number from 0 to 10'],
  ])('refuse %s', async (line, problem) => {
    expect(
      await fileProblems(`service:\n  url: http://a.example\n  ${line}\nwarehouse: { url: "embedded:x" }\n${SYNCS}`),
    ).toEqual([expect.stringMatching(new RegExp(`^3:\\d+: ${problem}$`))]);
  });

  it.each(['embedded:', 'mysql://db/x', 'sluice.db', '""'])('refuse the warehouse %s', async (url) => {
    const problems = await fileProblems(
      `service: { url: "http://a.example" }\nwarehouse: { url: ${url === '""' ? url : `"${url}"`} }\n${SYNCS}`,
    );
    expect(problems).toEqual([
      expect.stringMatching(/^2:19: url is .*; allowed is embedded:FOLDER or postgres:\/\/USER@HOST:PORT\/DATABASE$/),
    ]);
  });

  it.each(['Sluice', 'pg_x', '1a', 'a'.repeat(60), 'a-b'])('refuse the schema %s', async (schema) => {
    const problems = await fileProblems(
      `service: { url: "http://a.example" }\nwarehouse: { url: "embedded:x", schema: ${schema} }\n${SYNCS}`,
    );
    expect(problems).toEqual([
      expect.stringMatching(
        /^2:41: schema is .*; allowed are at most 59 lower-case letters, digits and _, beginning with a letter, not with pg_$/,
      ),
    ]);
  });

  it('refuse prices of what is no endpoint', async () => {
    expect(
      await fileProblems(
        `${HEAD.replace('syncs:\n', '')}prices: { pronet.groups: 1, microblog.user: free, pronet.search.users: { points: 1, per: 0 } }\n${SYNCS}`,
      ),
    ).toEqual([
      expect.stringMatching(
        /^3:11: unknown key "pronet\.groups"; did you mean "pronet\.group"\? allowed: token\.requests, /,
      ),
      '3:45: microblog.user is "free"; allowed is a number of points per call, or { points, per }: points for each started unit of results',
      '3:90: per is 0; allowed is a whole number of at least 1',
    ]);
  });
});

describe('a file', () => {
  it.each([
    ['that is empty', '', '1:1: the file is empty; a config has the keys service, warehouse and syncs'],
    ['of comments alone', '# nothing\n', '1:1: the file is empty; a config has the keys service, warehouse and syncs'],
    ['that is a list', '- a\n', '1:1: a config is a mapping with the keys service, warehouse and syncs'],
    ['without its parts', 'budget: {}\n', '1:1: missing: syncs (allowed is a mapping)'],
    [
      'that is no YAML',
      'a: [1, 2\nb: 3\n',
      '2:1: the YAML is not valid: flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['of two documents', 'a: 1\n---\nb: 2\n', '2:1: the file contains several documents; allowed is one'],
    ['with an unknown tag', 'a: !secret x\n', '1:4: the YAML is not valid: unresolved tag: !secret'],
    [
      'with a variable in braces without quotes',
      'service: { url: "http://a.example", token: ${TOKEN}, in_flight: 4 }\nwarehouse: { url: "x" }\n',
      '1:45: a value with ${…} needs quotes inside braces and brackets, such as { token: "${SLUICE_SERVICE_TOKEN}" }',
    ],
    [
      'with an unexpected token',
      'a: { b: c } d\ne: f\ng: h\n',
      '1:13: the YAML is not valid: unexpected scalar at node end',
    ],
    ['with an alias to nothing', 'a: *nothing\n', '1:4: *nothing refers to no anchor'],
    ['with a key that is no text', '[a]: 1\n', '1:1: a key must be text'],
    ['with NUL', 'a: b\u0000\n', '1:5: the text contains a NUL character; remove it'],
  ])('%s', async (_, text, problem) => {
    expect((await fileProblems(text))[0]).toBe(problem);
  });

  it('with an unexpected token has one problem, whatever follows', async () => {
    expect(
      await fileProblems('service: { token: ${TOKEN}, in_flight: 4 }\nwarehouse: { url: "x" }\nsyncs: {}\n'),
    ).toHaveLength(1);
  });

  it('that is not UTF-8', async () => {
    expect(await fileProblems(new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0x0a]))).toEqual([
      '1:1: the file is not UTF-8 text; save it as UTF-8',
    ]);
  });

  it.each([
    ['missing.yaml', 'no such file; set --config or SLUICE_CONFIG, or create one with `sluice init`'],
    ['.', 'this is not a file; a config is one YAML file'],
  ])('%s, which is none', async (name, message) => {
    const error = await inFolder({}, (folder) => loadConfig(`${folder}/${name}`, {}).catch((it: unknown) => it));
    expect((error as ConfigError).problems).toMatchObject([{ line: 1, column: 1, message }]);
  });
});
