import { useProgram } from './link-command.tsx'

/** A sentence with a command in it; commands of Afield get the prefix of the installation. */
export function WithCommand({
  sentence: [before, command, after]
}: {
  sentence: readonly [before: string, command: string, after: string]
}) {
  const program = useProgram()
  return (
    <>
      {before}
      <code>{command.replace(/^afield\b/, program)}</code>
      {after}
    </>
  )
}
