/** Posts, with the reposts inside them. */
import {
  epoch,
  fallback,
  boolean,
  integer,
  nested,
  object,
  objects,
  required,
  text,
  texts,
  urn,
  volatile,
  identifier,
  personal,
} from '../field.ts';
import type { Resource } from '../model.ts';
import { resource } from '../resource.ts';
import { COMPANY_URN_TYPES } from '../names/urn.ts';
import { partySeen } from './pronet-people.ts';

const author = object(
  'The person or organization that published the post.',
  {
    internal_id: identifier(urn('The network’s internal identifier of the author.', 'member', 'company')),
    urn: identifier(urn('The author’s URN.', 'fsd_profile', 'fsd_company')),
    name: personal(text('Name of the author.')),
    alias: personal(text('Public handle of the author.')),
    url: personal(text('Address of the author’s profile or page.')),
    headline: personal(text('The line under the author’s name.')),
    image: personal(volatile(text('Address of the author’s portrait; signed and short-lived.'))),
  },
  { tag: '@pronet_user_post_user', observation: partySeen('preview') },
);

export const pronetPost: Resource = resource({
  name: 'PronetPost',
  tag: '@pronet_user_post',
  table: 'pronet_posts',
  noun: 'post',
  topic: 'Professional network',
  about: 'Posts of the professional network, including reposts and the posts that they repeat.',
  key: ['urn_type', 'urn_value'],
  shared: true,
  filters: ['created_at', 'author_urn_value'],
  identifiedBy: { url: 'name', share_url: 'text' },
  measures: [
    'comment_count',
    'share_count',
    {
      name: 'reaction_count',
      about: 'Number of reactions of all types without hidden ones; null if not reported.',
      list: 'reactions',
      field: 'count',
    },
  ],
  fields: {
    urn: identifier(required(urn('The post’s URN.', 'activity'))),
    url: personal(required(text('Address of the post.'))),
    share_url: personal(text('Address for sharing the post.')),
    author,
    created_at: fallback(epoch('Time of publication.'), 0),
    share_urn: identifier(urn('URN of the share that carries the post.', 'share')),
    is_empty_repost: boolean('Whether the post repeats another without text of its own.'),
    repost: nested('The post that this one repeats.', 'preview', () => pronetPost),
    images: personal(volatile(texts('Addresses of the pictures; signed and short-lived.', 'image'))),
    video_url: personal(text('Address of the video.')),
    text: personal(text('The text of the post.')),
    comment_count: integer('Number of comments on the post; negative if hidden, null if never reported.'),
    share_count: integer('Number of times the post was shared; negative if hidden, null if never reported.'),
    reactions: objects(
      'Reactions to the post, counted by type.',
      {
        type: text('Type of reaction, such as like.'),
        count: integer('Number of reactions of this type; negative if hidden.'),
      },
      { tag: '@pronet_reaction' },
    ),
    event: personal(
      object(
        'An event that the post announces.',
        {
          url: text('Address of the event.'),
          image: volatile(text('Address of the event’s picture; signed and short-lived.')),
          title: text('Title of the event.'),
          date: text('Time of the event, as written.'),
          participant_count: integer('Number of participants of the event.'),
        },
        { tag: '@pronet_user_post_event' },
      ),
    ),
    article: personal(
      object(
        'An article that the post links to.',
        {
          url: text('Address of the article.'),
          urn: urn('The article’s URN.', 'article'),
          image: volatile(text('Address of the article’s picture; signed and short-lived.')),
          title: text('Title of the article.'),
          subtitle: text('Subtitle of the article.'),
          description: text('Summary of the article.'),
        },
        { tag: '@pronet_user_post_article' },
      ),
    ),
    document: personal(
      object(
        'A document attached to the post.',
        {
          urn: urn('The document’s URN.', 'document'),
          url: text('Address of the document.'),
          title: text('Title of the document.'),
          cover_images: volatile(texts('Addresses of the cover pictures; signed and short-lived.', 'cover_image')),
          images: volatile(texts('Addresses of the page pictures; signed and short-lived.', 'image')),
          total_images_count: integer('Number of pages of the document.'),
        },
        { tag: '@pronet_user_post_document' },
      ),
    ),
    mentioned: objects(
      'People and organizations that the post mentions.',
      {
        urn: identifier(urn('URN of the mentioned person or organization.', 'fsd_profile', 'fsd_company')),
        name: personal(text('Name of the mentioned person or organization.')),
        alias: personal(text('Public handle of the mentioned person or organization.')),
        url: personal(text('Address of the mentioned profile or page.')),
      },
      {
        tag: '@pronet_user_post_mentioned_user',
        named: 'mentions',
        observation: partySeen('reference'),
        derived: {
          kind: {
            kind: 'text',
            about:
              'Kind of the mentioned entity, by the type of its URN: user for a person, company for an organization.',
            from: (valueOf) => {
              const type = valueOf('urn_type');
              if (typeof type !== 'string') return null;
              return COMPANY_URN_TYPES.includes(type) ? 'company' : 'user';
            },
          },
        },
      },
    ),
  },
});
