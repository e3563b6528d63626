/** Tags in a config: those of `defaults` are added, and mistakes are reported with their position. */
import { expect, it } from 'vitest';
import { fileProblems, load } from './written.ts';

const HEAD = 'service: { url: "http://127.0.0.1:8787" }\nwarehouse: { url: "embedded:wh" }\n';
const sync = (name: string, more = ''): string =>
  `  ${name}: { endpoint: pronet.group, for_each: { group: ["1"] }${more} }\n`;
const tagsOf = async (text: string) => (await load(`${HEAD}${text}`)).syncs.map(({ tags }) => tags);

it('a sync has its own tags and those of defaults, and null leaves it without any', async () => {
  expect(
    await tagsOf(
      `defaults: { tags: { team: growth, cost_center: 4711 } }\nsyncs:\n${sync('a', ', tags: { team: sales, p: 3.10 }')}${sync('b')}${sync('c', ', tags: null')}`,
    ),
  ).toEqual([{ team: 'sales', cost_center: '4711', p: '3.10' }, { team: 'growth', cost_center: '4711' }, {}]);
});

it('limits of tags have positions, and a limit of a tag that no sync has is refused', async () => {
  const { budget } = await load(
    `${HEAD}budget: { per_month: 100, tags: { team: { growth: { per_day: 5, per_month: 50 } } } }\nsyncs:\n${sync('a', ', tags: { team: growth }')}`,
  );
  expect(budget).toEqual({ perMonth: 100, tags: [{ tag: 'team', value: 'growth', perDay: 5, perMonth: 50 }] });
  const problems = (limits: string): Promise<string[]> =>
    fileProblems(`${HEAD}budget: { tags: ${limits} }\nsyncs:\n${sync('a', ', tags: { team: growth }')}`);
  expect(await problems('{ team: { growht: { per_day: 5 } } }')).toEqual([
    '3:27: no sync has the tag "team" with the value "growht"; did you mean "growth"? allowed: growth',
  ]);
  expect(await problems('{ teams: { growth: { per_day: 5 } } }')).toEqual([
    '3:19: no sync has the tag "teams"; did you mean "team"? allowed: team',
  ]);
  expect(await problems('{ team: { growth: { per_week: 5 } } }')).toEqual([
    '3:37: unknown key "per_week"; allowed: per_day, per_month',
  ]);
});

it('names and values of tags that could not be labels are refused', async () => {
  const problems = (tags: string): Promise<string[]> => fileProblems(`${HEAD}syncs:\n${sync('a', `, tags: ${tags}`)}`);
  expect(await problems('{ "Team A": growth }')).toEqual([expect.stringContaining('allowed as the name of a tag')]);
  expect(await problems('{ team: "a b" }')).toEqual([expect.stringContaining('allowed as the value of a tag')]);
  expect(await problems('{ team: [a] }')).toEqual([expect.stringContaining('allowed as the value of a tag')]);
  expect(await problems('growth')).toHaveLength(1);
  const nine = Array.from({ length: 9 }, (_, at) => `t${at}: v`).join(', ');
  expect(await problems(`{ ${nine} }`)).toEqual([expect.stringContaining('allowed are at most 8 tags')]);
});
