/** Groups of the professional network. Their members are people of the same world. */
import { between, distinct, type Drawing, happens, pick } from './draw.ts';
import { industryUrn } from './education.ts';
import type { Sign } from './images.ts';
import type { People } from './people.ts';
import type { Wire } from '../wire.ts';
import { INDUSTRIES } from './words/industries.ts';
import { PLACES } from './words/places.ts';
import { paragraph, sentence } from './words/prose.ts';

export interface Groups {
  readonly count: number;
  /** The index of the group with this id, URN or address; undefined if there is none. */
  readonly find: (written: string) => number | undefined;
  readonly item: (index: number, sign: Sign) => Wire;
}

const FIRST_ID = 1001;
const OPENED_MS = Date.UTC(2008, 0, 1);
const DAY_MS = 86_400_000;
const TOPICS = [
  'Data Engineering',
  'Open Source',
  'Coastal Hiking',
  'Speciality Coffee',
  'Women in Tech',
  'Logistics',
  'Analytics',
  'Green Energy',
];
const KINDS = ['Network', 'Forum', 'Professionals', 'Meetup', 'Alumni'];

export function groupsOf(draw: Drawing, count: number, people: People): Groups {
  const draws = { rest: draw('group rest'), members: draw('group members'), prose: draw('group prose') };
  return {
    count,
    find: (written) => {
      const id = /^(?:urn:li:)?(?:group:)?(\d+)$/.exec(written.trim())?.[1] ?? idInAddress(written);
      const index = Number(id) - FIRST_ID;
      return id !== undefined && String(Number(id)) === id && index >= 0 && index < count ? index : undefined;
    },
    item: (index, sign) => {
      const drawn = (slot: number): number => draws.rest(index, slot);
      const created = OPENED_MS + (drawn(0) % 5_000) * DAY_MS + (drawn(1) % DAY_MS);
      const members = happens(drawn(2), 0.05) && index > 2 ? null : membersOf(index, created);
      const id = String(FIRST_ID + index);
      return {
        '@type': '@pronet_group',
        urn: { type: 'group', value: id },
        name: `${pick(TOPICS, drawn(3))} ${pick(KINDS, drawn(4))} ${pick(PLACES, drawn(5)).city}`,
        url: `https://pronet.example/groups/${id}/`,
        member_count: (members?.length ?? 0) + (drawn(6) % 4_000),
        image: happens(drawn(7), 0.1) ? null : sign(`pronet/group/${id}.jpg`),
        created_at: happens(drawn(8), 0.1) ? null : created,
        description: happens(drawn(9), 0.1) ? null : paragraph(draws.prose, index, 3),
        rules: happens(drawn(10), 0.4) ? null : sentence(draws.prose, index, 9),
        ...(happens(drawn(11), 0.7) && { geo: { type: 'geo', value: pick(PLACES, drawn(5)).geo } }),
        industries: happens(drawn(12), 0.1)
          ? null
          : distinct(draws.prose, index, drawn(13) % 4, INDUSTRIES.length).map((at) =>
              industryUrn(INDUSTRIES[at] as (typeof INDUSTRIES)[number]),
            ),
        members,
      };
    },
  };

  /** The owner is first, then managers, then members. */
  function membersOf(index: number, createdMs: number): Wire[] {
    const shown = happens(draws.rest(index, 20), 0.1) && index > 2 ? 0 : between(draws.rest(index, 21), 5, 60);
    return distinct(draws.members, index, shown, people.count).map((person, at) => {
      const { urn, name, alias, url, headline } = people.at(person);
      return {
        '@type': '@pronet_group_member',
        user: { '@type': '@pronet_group_user', urn, name, alias, url, ...(headline !== null && { headline }) },
        // Assumed: the roles below owner; the contract shows only that one.
        role: at === 0 ? 'owner' : at < 3 ? 'manager' : 'member',
        joined_at: createdMs + at * DAY_MS * 7 + (draws.members(index, 10_000 + at) % DAY_MS),
      };
    });
  }
}

function idInAddress(written: string): string | undefined {
  if (!URL.canParse(written)) return undefined;
  const { hostname, pathname } = new URL(written);
  return hostname === 'pronet.example' ? /^\/groups\/(\d+)\/?$/.exec(pathname)?.[1] : undefined;
}
