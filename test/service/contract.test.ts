/**
 * The declared fields against the service's contract, written here as it reads there: names, types, what is always
 * present, defaults and tags; and against what is decided of it: which fields are volatile, and which wait for a switch.
 */
import { describe, expect, it } from 'vitest';
import { catalog } from '../../src/service/catalog.ts';
import type { Field, Fields } from '../../src/service/model.ts';

/** A URN is an object of type and value; `epoch` is an integer instant, `day` a date as text, `anything` not shown. */
const CONTRACT: Readonly<Record<string, string>> = {
  TokenRequest: `
    @token_request
    id: uuid required
    cost: integer required
    is_paid: flag required
    endpoint: text required
    plan: text required
    started_at: moment required
    points_left: integer
    token_id: uuid
    duration: number
    response_status_code: integer
    response_error_text: text
    response_count: integer
    response_execution_time: number
    response_request_id: text
    timeout: integer
    is_token_expired: flag
    is_points_run_out: flag
  `,
  WebParserResult: `
    @web_parser_result
    cleaned_html: text required
    url: text required
    title: text
    meta_description: text
    metadata: json
    links[]: text with extract_contacts or extract_minimal
    emails[]: text with extract_contacts
    phones[]: text with extract_contacts
  `,
  SecFiling: `
    @sec_filing
    accession_number: text required
    file_name: text required
    document_url: text required
    filing_type: text
    file_date: day
    period_ending: day
    ciks[]: text
    display_names[]: text
    file_description: text
    biz_locations[]: text
    biz_states[]: text
    inc_states[]: text
    sics[]: text
    items[]: text
  `,
  PronetSearchUser: `
    @pronet_search_user
    internal_id: urn required
    urn: urn required
    name: text required
    alias: text required
    url: text required
    image: text volatile
    headline: text
    location: text
    open_to_work: flag default false
  `,
  PronetPost: `
    @pronet_user_post
    urn: urn required
    url: text required
    share_url: text
    author: object @pronet_user_post_user
    author.internal_id: urn
    author.urn: urn
    author.name: text
    author.alias: text
    author.url: text
    author.headline: text
    author.image: text volatile
    created_at: epoch default 0
    share_urn: urn
    is_empty_repost: flag
    repost: PronetPost preview
    images[]: text volatile
    video_url: text
    text: text
    comment_count: integer
    share_count: integer
    reactions[]: object @pronet_reaction
    reactions[].type: text
    reactions[].count: integer
    event: object @pronet_user_post_event
    event.url: text
    event.image: text volatile
    event.title: text
    event.date: text
    event.participant_count: integer
    article: object @pronet_user_post_article
    article.url: text
    article.urn: urn
    article.image: text volatile
    article.title: text
    article.subtitle: text
    article.description: text
    document: object @pronet_user_post_document
    document.urn: urn
    document.url: text
    document.title: text
    document.cover_images[]: text volatile
    document.images[]: text volatile
    document.total_images_count: integer
    mentioned[]: object @pronet_user_post_mentioned_user
    mentioned[].urn: urn
    mentioned[].name: text
    mentioned[].alias: text
    mentioned[].url: text
  `,
  PronetUserEducation: `
    @pronet_user_education
    company: object @pronet_user_education_company required
    company.name: text required
    company.urn: urn
    company.url: text
    company.alias: text
    company.industry: urn
    company.industry_full: object @pronet_industry
    company.industry_full.urn: urn
    company.industry_full.name: text
    company.industry_full.hierarchy: text
    company.industry_full.description: text
    company.employee_range: text
    company.logo_url: text volatile
    major: text
    interval: text
    description: text
  `,
  PronetGroup: `
    @pronet_group
    urn: urn required
    name: text required
    url: text required
    member_count: integer required
    image: text volatile
    created_at: epoch
    description: text
    rules: text
    geo: urn
    industries[]: urn
    members[]: object @pronet_group_member
    members[].user: object @pronet_group_user
    members[].user.urn: urn
    members[].user.name: text
    members[].user.alias: text
    members[].user.url: text
    members[].user.headline: text
    members[].role: text
    members[].joined_at: epoch
  `,
  MicroblogUser: `
    @microblog_user
    internal_id: text required
    rest_id: text required
    name: text required
    alias: text required
    url: text required
    description: text
    location: text
    follower_count: integer
    following_count: integer
    tweet_count: integer
    listed_count: integer
    favorites_count: integer
    media_count: integer
    image: text volatile
    banner_url: text volatile
    verified: flag default false
    verified_type: text
    is_blue_verified: flag default false
    created_at: epoch
    professional: object @microblog_user_professional
    professional.rest_id: text
    professional.professional_type: text
    professional.categories[]: anything
    verification_info: object @microblog_user_verification
    verification_info.is_identity_verified: flag default false
    verification_info.verified_since: text
    verification_info.reason_description: text
    profile_urls[]: anything
    mentions[]: anything
    birthdate: object @microblog_user_birthdate
    birthdate.day: integer
    birthdate.month: integer
    birthdate.year: integer
    birthdate.visibility: text default ""
    birthdate.year_visibility: text default ""
    birthdate.timestamp: integer
    is_profile_translatable: flag default false
    has_hidden_subscriptions: flag default false
    can_highlight_tweets: flag default false
    premium_gifting_eligible: flag default false
    highlighted_tweets_count: integer default 0
    user_seed_tweet_count: integer default 0
    creator_subscriptions_count: integer default 0
  `,
  PhotoshareUser: `
    @photoshare_user
    id: text required
    alias: text required
    name: text required
    url: text required
    image: text volatile
    follower_count: integer default 0
    following_count: integer default 0
    media_count: integer default 0
    description: text
    is_private: flag default false
    is_verified: flag default false
    is_business: flag default false
    created_at: epoch with with_creation_date
    category: text
    external_url: text
    email: text
    whatsapp_number: text
    phone: text
    location: object @photoshare_user_location
    location.city_id: integer
    location.street: text
    location.city: text
    location.zip: text
    location.latitude: number
    location.longitude: number
    links[]: anything
    mentions[]: anything
    hashtags[]: anything
    pinned_channels[]: anything
    similar_users[]: anything volatile with with_similar_users
    posts[]: PhotosharePost preview with with_posts
  `,
  PhotosharePost: `
    @photoshare_post
    id: text required
    code: text required
    url: text required
    image: text required volatile
    text: text
    created_at: epoch
    like_count: integer default 0
    comment_count: integer default 0
    reshare_count: integer default 0
    view_count: integer
    user: object @photoshare_user_preview
    user.id: text
    user.name: text
    user.alias: text
    user.url: text
    user.image: text volatile
    user.is_verified: flag default false
    user.is_private: flag default false
    type: text
    media[]: anything volatile
    carousel_media_count: integer default 0
    is_paid_partnership: flag default false
  `,
};

function linesOf(fields: Fields, prefix = ''): string[] {
  return Object.entries(fields).flatMap(([name, field]) => lineOf(field, prefix + name));
}

const isUrn = (fields: Fields): boolean => Object.keys(fields).join() === 'type,value';

function lineOf(field: Field, at: string): string[] {
  switch (field.shape) {
    case 'given':
      return [];
    case 'scalar':
      return [`${at}: ${field.kind}${factsOf(field)}`];
    case 'object':
      return isUrn(field.fields)
        ? [`${at}: urn${factsOf(field)}`]
        : [`${at}: object ${field.tag ?? 'untagged'}${factsOf(field)}`, ...linesOf(field.fields, `${at}.`)];
    case 'list': {
      const { element } = field;
      if (element.of !== 'object') return [`${at}[]: ${element.of === 'json' ? 'anything' : 'text'}${factsOf(field)}`];
      if (isUrn(element.fields)) return [`${at}[]: urn${factsOf(field)}`];
      return [`${at}[]: object ${element.tag ?? 'untagged'}${factsOf(field)}`, ...linesOf(element.fields, `${at}[].`)];
    }
    case 'nested':
      return [`${at}: ${field.resource().name} ${field.detail}${factsOf(field)}`];
    case 'nested-list':
      return [`${at}[]: ${field.resource().name} ${field.detail}${factsOf(field)}`];
  }
}

function factsOf(field: Exclude<Field, { shape: 'given' }>): string {
  return [
    field.required ? ' required' : '',
    field.shape === 'scalar' && field.fallback !== undefined ? ` default ${JSON.stringify(field.fallback)}` : '',
    field.volatile ? ' volatile' : '',
    field.switchedBy.length > 0 ? ` with ${field.switchedBy.join(' or ')}` : '',
  ].join('');
}

describe('the declared fields', () => {
  const resources = [...new Set(catalog.map(({ returns }) => returns))];

  it.each(resources.map((it) => [it.name, it] as const))('of %s are those of the contract', (name, { tag, fields }) => {
    const contract = (CONTRACT[name] ?? '')
      .trim()
      .split('\n')
      .map((line) => line.trim());
    expect([tag, ...linesOf(fields)]).toEqual(contract);
  });

  it('are of the resources that the contract shows', () => {
    expect(resources.map(({ name }) => name).toSorted()).toEqual(Object.keys(CONTRACT).toSorted());
  });
});
