import type { Hook } from './hooks.ts'

/** The tools that Claude Code uses at the moment, several at once. A question about one does not say which use it is. */
interface ToolUses {
  begin(hook: Hook): void
  /** The id of the newest use of this tool with just this input that was not asked about yet. */
  ask(name: string, input: object): string | undefined
  end(call: string): void
  endAll(): void
}

export function createToolUses(): ToolUses {
  const unasked = new Map<string, string>()
  const describe = (name: string, input: object) => JSON.stringify([name, input])
  return {
    begin({ tool_use_id: call, tool_name: name, tool_input: input = {} }) {
      if (call !== undefined && name !== undefined) unasked.set(call, describe(name, input))
    },
    ask(name, input) {
      const wanted = describe(name, input)
      const call = [...unasked].findLast(([, use]) => use === wanted)?.[0]
      if (call !== undefined) unasked.delete(call)
      return call
    },
    end(call) {
      unasked.delete(call)
    },
    endAll() {
      unasked.clear()
    }
  }
}
