import { exitCodeOf } from './exit-code.ts'
import type { Item, Step } from './items.ts'
import { commandOf } from './steps.ts'

/** The result of the last test run after a message; undefined if there was none, or its exit code is unknown. */
export function testsSince(items: readonly Item[], seq: number, tellsFailures: boolean): 'pass' | 'fail' | undefined {
  const run = items.findLast((item): item is Step => item.type === 'step' && item.seq > seq && item.endedAt !== undefined && isTest(item))
  if (run === undefined || run.args['run_in_background'] === true) return undefined
  const code = exitCodeOf(run.content) ?? (tellsFailures && run.state === 'ok' ? 0 : undefined)
  if (code === undefined) return undefined
  if (code === 0) return 'pass'
  // Commands after the tests may be the ones that failed.
  return tests.test(toldOf(run).split('&&').at(-1) ?? '') ? 'fail' : undefined
}

function toldOf({ args, title }: Step): string {
  return commandOf(args) ?? title
}

function isTest(step: Step): boolean {
  if (step.kind !== 'execute') return false
  const command = toldOf(step)
  // The exit code of a pipe, or of several commands, is that of the last one.
  return tests.test(command) && !/[|;&\n]/.test(command.replaceAll('&&', ' ').replaceAll('2>&1', ''))
}

const tests =
  /(?:^|\s|\/)(?:(?:npm|pnpm|yarn|bun|deno|cargo|go|dotnet|swift|mix|zig|make|mvn|gradlew?)\s(?:\S+\s)*?(?:run\s)?(?:test|check|nextest)(?:[:\s]|$)|npm t(?:\s|$)|node --test|(?:pytest|jest|vitest|mocha|ava|tap|rspec|phpunit|ctest|tox)(?:\s|$))/
