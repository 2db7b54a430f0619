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
  const of = (on: RulePattern['on'], pattern: string | undefined) => (pattern === undefined ? undefined : { on, pattern, folder, tool })
  switch (asked.on) {
    case 'command':
      return of('command', commandPattern(allowTools, asked))
    // Anywhere in the folder of the session, as far as a rule may reach there.
    case 'change':
    case 'read':
      return of(asked.on, allowTools.includes(tool) ? '**' : undefined)
    case 'tool':
      return of('tool', allowTools.includes(tool) ? suggested(asked) : undefined)
    case 'page':
      return undefined
  }
}

/** The very command, or whatever begins with these words. */
function commandPattern(allowTools: readonly string[], asked: Request): string | undefined {
  const begin = `${asked.tool}(`
  const inside = allowTools.find(each => each.startsWith(begin) && each.endsWith(')'))?.slice(begin.length, -1)
  if (inside === undefined) return undefined
  if (inside === asked.command) return suggested(asked)
  return /^[^*]+:\*$/.test(inside) ? `${inside.slice(0, -2)} *` : undefined
}
