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
