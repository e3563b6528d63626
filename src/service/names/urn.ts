/** The professional network's identifiers, in the three forms that people write. */

export interface Urn {
  readonly type: string;
  readonly value: string;
}

const WRITTEN = /^(?:urn:li:)?(?!urn:)([A-Za-z][A-Za-z0-9_]*):(\S+)$/;

/** The URN in a text (`urn:li:fsd_profile:abc` or `fsd_profile:abc`); undefined if the text is not a URN. */
export function urnOf(written: string): Urn | undefined {
  const parts = WRITTEN.exec(written.trim());
  return parts ? { type: parts[1] as string, value: parts[2] as string } : undefined;
}

/** URN types of organizations. Any other type counts as a person where the entity is one of the two. */
export const COMPANY_URN_TYPES: readonly string[] = ['fsd_company', 'company', 'school'];

/** Known URN types by what they identify. The contract names only some of them, so the service may know more. */
const TYPES_BY_SUBJECT = {
  organization: COMPANY_URN_TYPES,
  place: ['geo'],
  industry: ['industry'],
  person: ['fsd_profile', 'member'],
  post: ['activity'],
  group: ['group'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type UrnSubject = keyof typeof TYPES_BY_SUBJECT;

/** All known URN types. */
export const URN_TYPES: readonly string[] = Object.values(TYPES_BY_SUBJECT).flat();

/** The known URN types of a subject. */
export const urnTypesOf = (subject: UrnSubject): readonly string[] => TYPES_BY_SUBJECT[subject];
