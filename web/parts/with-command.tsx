/** A sentence with what to type on the computer in its middle. */
export function WithCommand({ told: [before, command, after] }: { told: readonly [before: string, command: string, after: string] }) {
  return (
    <>
      {before}
      <code>{command}</code>
      {after}
    </>
  )
}
