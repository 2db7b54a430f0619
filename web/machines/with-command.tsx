import { useProgram } from './link-command.tsx'

/** A sentence with what to type on the computer in its middle; commands of Afield in the form of the installation. */
export function WithCommand({ told: [before, command, after] }: { told: readonly [before: string, command: string, after: string] }) {
  const program = useProgram()
  return (
    <>
      {before}
      <code>{command.replace(/^afield\b/, program)}</code>
      {after}
    </>
  )
}
