import type { RulePattern } from '../../protocol/sealed/rules.ts'
import { suggested } from './patterns.ts'
import type { Request } from './request.ts'

/**
 * The rule that an existing app means by the tools it allows with its answer: `Bash(npm test)`, `Bash(npm run:*)`, or a tool by its name.
 * It says nothing of what was shown, so the rule is made of what it names alone. Undefined when that is not what is asked, and when it
 * would leave open more than a rule may: a program that runs others, or every page.
 */
export function ruleOfTools(allowTools: readonly string[], asked: Request): RulePattern | undefined {
  const { tool, folder } = asked
  const named = allowTools.find(each => each === tool || (each.startsWith(`${tool}(`) && each.endsWith(')')))
  if (named === undefined) return undefined
  const of = (on: RulePattern['on'], pattern: string | undefined) => (pattern === undefined ? undefined : { on, pattern, folder, tool })
  switch (asked.on) {
    case 'command':
      return of('command', commandPattern(named, asked))
    // Anywhere in the folder of the session, as far as a rule may reach there.
    case 'change':
    case 'read':
      return of(asked.on, '**')
    case 'tool':
      return of('tool', suggested(asked))
    case 'page':
      return undefined
  }
}

/** The very command, or whatever begins with these words. */
function commandPattern(named: string, asked: Request): string | undefined {
  const inside = named.slice(asked.tool.length + 1, -1)
  if (inside === asked.command) return suggested(asked)
  return /^[^*]+:\*$/.test(inside) ? `${inside.slice(0, -2)} *` : undefined
}
