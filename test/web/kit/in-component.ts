import { h, render } from 'preact'
import { act } from 'preact/test-utils'
import type { Test } from 'tap'

export interface InComponent<Result> {
  /** What the hooks returned last. */
  readonly latest: Result
  /** Does something that renders the component again, at once or when it resolves, and completes it and its effects. */
  act(what: () => unknown): Promise<void>
  /** Renders it again, although nothing changed. */
  again(): void
  remove(): void
}

/** Calls `use`, which may call hooks, as a component does that draws nothing; it is removed with the test. */
export function inComponent<Result>(t: Pick<Test, 'teardown'>, use: () => Result): InComponent<Result> {
  // Of the place for the component only these are used.
  const place = { childNodes: [], firstChild: null, insertBefore() {} } as unknown as Element
  let latest: { readonly value: Result } | undefined
  // With signals a component is not rendered again for the same properties.
  const Component = (_: { count: number }) => {
    latest = { value: use() }
    return null
  }
  const draw = (what: unknown) => void act(() => render(what as null, place))
  let count = 0
  const again = () => draw(h(Component, { count: count++ }))
  again()
  t.teardown(() => draw(null))
  return {
    get latest() {
      if (latest === undefined) throw new Error('the component was not rendered')
      return latest.value
    },
    act: what => act(what as () => void),
    again,
    remove: () => draw(null)
  }
}
