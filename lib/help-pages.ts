import { programNameAt, readAsset } from './assets.ts'

/** The pages of `docs/` for people who use or run Afield, in the order in which `--help` lists them. Every copy of the program has them. */
export const helpPages = [
  'quick-start',
  'wrapper',
  'notifications',
  'faq',
  'troubleshooting',
  'https',
  'proxies',
  'operations',
  'options',
  'limits',
  'several-instances',
  'threats',
  'behaviour',
  'glossary'
] as const

export type HelpPage = (typeof helpPages)[number]

/** The command that shows a page. Whatever the program prints names a page in this way, because no file may lie beside it. */
export function helpCommand(page: HelpPage): string {
  return `${programNameAt()} help ${page}`
}

/** The page as it is in `docs/`. */
export function readHelpPage(page: HelpPage): string {
  const bytes = readAsset(`docs/${page}.md`)
  if (!bytes) throw new Error(`The program was made without docs/${page}.md`)
  return bytes.toString()
}
