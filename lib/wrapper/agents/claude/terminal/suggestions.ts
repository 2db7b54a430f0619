import * as z from 'zod'
import type { Grant, Grants } from '../../../../protocol/sealed/grants.ts'

const rules = z.array(z.object({ toolName: z.string(), ruleContent: z.string().nullish() })).min(1)
const suggestion = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setMode'), mode: z.enum(['acceptEdits', 'bypassPermissions']), destination: z.string() }),
  z.object({ type: z.literal('addRules'), behavior: z.literal('allow'), rules, destination: z.string() }),
  z.object({ type: z.literal('addDirectories'), directories: z.array(z.string()).min(1), destination: z.string() })
])

/** What Claude Code will allow once its suggestions are taken. Undefined when it cannot be said of one of them: it could allow anything. */
export function grantsOf(suggestions: readonly unknown[] = []): Grants | undefined {
  const read = suggestions.map(each => suggestion.safeParse(each).data)
  const known = read.flatMap(each => each ?? [])
  if (known.length === 0 || known.length < read.length) return undefined
  return { lasts: known.every(({ destination }) => destination === 'session') ? 'session' : 'always', what: known.flatMap(grantsIn) }
}

function grantsIn(each: z.infer<typeof suggestion>): Grant[] {
  switch (each.type) {
    case 'setMode':
      return [{ type: each.mode === 'acceptEdits' ? 'edits' : 'everything', of: [] }]
    case 'addDirectories':
      return [{ type: 'folders', of: each.directories }]
    case 'addRules':
      return each.rules.map(ruleGrant)
  }
}

function ruleGrant({ toolName, ruleContent }: z.infer<typeof rules>[number]): Grant {
  if (!ruleContent) return { type: 'tools', of: [toolName] }
  if (toolName === 'Bash') return { type: 'commands', of: [ruleContent.replace(/:\*$/, ' *')] }
  return { type: 'tools', of: [`${toolName}(${ruleContent})`] }
}
