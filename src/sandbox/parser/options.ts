/** The options of a parse, named as in the contract. */

export interface ParseOptions {
  readonly include_tags?: readonly string[] | null | undefined;
  readonly exclude_tags?: readonly string[] | null | undefined;
  readonly only_main_content: boolean;
  readonly remove_comments: boolean;
  readonly resolve_srcset: boolean;
  readonly return_full_html: boolean;
  readonly min_text_block: number;
  readonly remove_base64_images: boolean;
  readonly strip_all_tags: boolean;
  readonly extract_contacts: boolean;
  readonly same_origin_links: boolean;
  readonly social_links_only: boolean;
  readonly extract_minimal: boolean;
}
