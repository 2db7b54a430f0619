import type { Grant, Grants } from '../../protocol/sealed/decisions/grants.ts'
import type { PermissionChoice } from '../../protocol/sealed/session.ts'

/** A permanent yes, named after what it allows. */
export function lastingChoice(id: string, grants: Grants): PermissionChoice {
  return { id, label: labelOf(grants), kind: 'allow_always', grants }
}

function labelOf({ lasts, what }: Grants): string {
  const all = what.map(nameOf).join(', ')
  return lasts === 'session' ? `Allow ${all} this session` : `Always allow ${all}`
}

function nameOf({ type, of }: Grant): string {
  const names = of.join(', ')
  switch (type) {
    case 'edits':
      return 'all edits'
    case 'everything':
      return 'everything'
    case 'files':
      return of.length === 0 ? 'edits to these files' : `edits to ${names}`
    case 'commands':
      return of.length === 0 ? 'this command' : names
    case 'hosts':
    case 'tools':
      return of.length === 0 ? 'this' : names
    case 'folders':
      return `work in ${names}`
    case 'rights':
      return 'these rights'
  }
}
