/** The content of a post: text, pictures, a video, an event, an article, a document, and reactions. */
import { between, type Draw, type Drawing, happens, skewed, weighted } from './draw.ts';
import type { Sign } from './images.ts';
import type { Parties, Party } from './party.ts';
import type { Wire } from '../wire.ts';
import { paragraph, sentence } from './words/prose.ts';

const KINDS = ['text', 'images', 'video', 'event', 'article', 'document'] as const;
const kindAt = weighted([35, 25, 10, 8, 14, 8]);
/** Assumed: the types besides like; the contract shows only that one. */
const REACTIONS = ['like', 'praise', 'empathy', 'interest', 'appreciation'];

/** The content of the post with this index and identifier, for one answer. */
export type ContentMaker = (index: number, value: string, sign: Sign) => Wire;

export function contentsOf(draw: Drawing, of: 'post' | 'repost', parties: Parties): ContentMaker {
  const rest = draw(`${of} content`);
  const prose = draw(`${of} prose`);
  return (index, value, sign) => {
    const drawn = (slot: number): number => rest(index, slot);
    const kind = KINDS[kindAt(drawn(0))] as (typeof KINDS)[number];
    return {
      images:
        kind === 'images'
          ? pictures(sign, `pronet/post/${value}`, between(drawn(1), 1, 4))
          : happens(drawn(2), 0.2)
            ? null
            : [],
      video_url: kind === 'video' ? `https://video.example/${value}.mp4` : null,
      text: happens(drawn(3), 0.04) ? null : paragraph(prose, index, between(drawn(4), 1, 5)),
      comment_count: happens(drawn(5), 0.05) ? null : skewed(drawn(6), 0, 800),
      share_count: happens(drawn(7), 0.05) ? null : skewed(drawn(8), 0, 400),
      reactions: happens(drawn(9), 0.05) ? null : reactions(rest, index),
      ...(kind === 'event' && { event: eventItem(prose, index, value, sign, drawn(10)) }),
      ...(kind === 'article' && { article: articleItem(prose, index, value, sign) }),
      ...(kind === 'document' && { document: documentItem(prose, index, value, sign, between(drawn(11), 1, 8)) }),
      mentioned: happens(drawn(12), 0.3) ? mentions(rest, index, parties) : happens(drawn(13), 0.3) ? null : [],
    };
  };
}

const pictures = (sign: Sign, path: string, many: number): string[] =>
  Array.from({ length: many }, (_, at) => sign(`${path}/${at}.jpg`));

function reactions(rest: Draw, index: number): Wire[] {
  const many = rest(index, 20) % (REACTIONS.length + 1);
  return REACTIONS.slice(0, many).map((type, at) => ({
    '@type': '@pronet_reaction',
    type,
    count: 1 + skewed(rest(index, 21 + at), 0, 3_000 >> at),
  }));
}

const eventItem = (prose: Draw, index: number, value: string, sign: Sign, drawn: number): Wire => ({
  '@type': '@pronet_user_post_event',
  url: `https://pronet.example/events/${value}/`,
  image: sign(`pronet/event/${value}.jpg`),
  title: sentence(prose, index, 30),
  date: `${['Mon', 'Tue', 'Wed', 'Thu'][drawn % 4] ?? 'Mon'}, ${1 + (drawn % 28)} May 2025, 6:00 PM`,
  participant_count: skewed(drawn, 3, 5_000),
});

const articleItem = (prose: Draw, index: number, value: string, sign: Sign): Wire => ({
  '@type': '@pronet_user_post_article',
  url: `https://site-${1 + (index % 3)}.example/blog/post-${1 + (index % 5)}`,
  urn: { type: 'article', value },
  image: sign(`pronet/article/${value}.jpg`),
  title: sentence(prose, index, 31),
  subtitle: `site-${1 + (index % 3)}.example`,
  description: sentence(prose, index, 32),
});

const documentItem = (prose: Draw, index: number, value: string, sign: Sign, pages: number): Wire => ({
  '@type': '@pronet_user_post_document',
  urn: { type: 'document', value },
  url: `https://documents.example/${value}.pdf`,
  title: sentence(prose, index, 33),
  cover_images: pictures(sign, `pronet/document/${value}/cover`, Math.min(pages, 2)),
  images: pictures(sign, `pronet/document/${value}/page`, pages),
  total_images_count: pages,
});

function mentions(rest: Draw, index: number, parties: Parties): Wire[] {
  const many = between(rest(index, 40), 1, 3);
  return Array.from({ length: many }, (_, at) =>
    mention(parties.at(rest(index, 41 + 2 * at), rest(index, 42 + 2 * at))),
  );
}

/** Assumed: a mentioned company has the fields of a mentioned user. Its tag is not documented, so none is sent. */
const mention = ({ kind, urn, name, alias, url }: Party): Wire => ({
  ...(kind === 'person' && { '@type': '@pronet_user_post_mentioned_user' }),
  urn,
  name,
  alias,
  url,
});
