import type { Deed } from './script.ts'

export const notesFile = 'notes.md'

export const firstNotes = `# Notes from the field

- Bring water and the map.
- The gate by the river sticks: lift, then push.
`

/**
 * What the demo does with an unscripted prompt: it adds the prompt to the notes of its folder, as a real
 * agent would work.
 */
export function tellStory(prompt: string, notes = firstNotes): Deed[] {
  const wish = prompt.replace(/\s+/g, ' ').trim()
  const line = `- ${wish}`
  return [
    {
      type: 'think',
      text: `The request is “${wish}”. First I look at this folder, then I propose a change. I write nothing until it is approved.`
    },
    {
      type: 'say',
      overMs: 900,
      text: `This is the demo agent: there is **no model** behind it, but everything else is real. I will add what you wrote to \`${notesFile}\`, after asking you, and read the result. Write *risky* later to see a decision that is worth a second look.`
    },
    { type: 'plan', steps: [`Read ${notesFile}`, 'Add your line', 'Read the result'] },
    { type: 'read', input: { path: notesFile } },
    { type: 'say', overMs: 400, text: 'Now the change. **It is waiting for your decision.**' },
    { type: 'write', input: { path: notesFile, content: `${notes.trimEnd()}\n${line}\n` } },
    { type: 'read', input: { path: notesFile } }
  ]
}

/** After "plan": one that is executed step by step. */
export const tellPlan: readonly Deed[] = [
  { type: 'plan', steps: ['Walk to the gate', 'Look at the hinges', 'Write down what is missing'] },
  ...['The gate is where it was.', 'One hinge is loose.', 'A screw and a drop of oil are missing.'].map(
    (text): Deed => ({ type: 'say', text, overMs: 700, isStep: true })
  )
]

/** After "write slowly": long enough to stop it from a phone. */
export const slowly: Deed = {
  type: 'say',
  overMs: 20_000,
  text: 'I walk to the gate by the river, one step after another, and write down what I see on the way: two herons, a fallen branch, a boat without oars, and far off the first light in a window. You can stop me at any word.'
}

const scratchFile = 'demo-scratch.txt'

/** After "risky": a file of its own, and a command that is harmless but of a risky kind. */
export const scratch = {
  file: scratchFile,
  content: 'The demo agent created this file to ask whether it may remove it.\n',
  command: process.platform === 'win32' ? `del /f /q ${scratchFile}` : `rm -rf ${scratchFile}`,
  first: `First I ask to create the file \`${scratchFile}\`, so that there is something to remove.`,
  unmade: 'Then there is nothing to remove.',
  before: `Now I ask to remove \`${scratchFile}\` with a command that deletes without asking for confirmation. **Look twice before you allow a command like this.**`,
  gone: `Done: \`${scratchFile}\` is gone. Nothing else was touched.`,
  stays: `Then \`${scratchFile}\` stays where it is.`,
  notOurs: `There is a file \`${scratchFile}\` here that I did not create, so I leave it alone.`
}

export function farewell(written: boolean): string {
  if (!written) return `Nothing was changed: you said no, and \`${notesFile}\` is unchanged.\n\nWrite something else, and I will ask again.`
  return `Done. Your line is in \`${notesFile}\` now.

What else you can try from the phone:

1. Say **no** to a change.
2. Write *risky*, and I will ask for something that is worth a second look.
3. Switch the mode to *Edit freely*: I change files without asking. The model *Quick* writes at once.
4. Write *ask me*, and I will ask you questions in a form; write *plan*, and I will make one. Send an image, and I will say what it is.
5. Write *write slowly*, and stop me while I do.
6. Turn off the network of this computer, write to me, and turn it on again.`
}

export const planOnly = `I am in the mode *Plan only*, so I change nothing. I would read \`${notesFile}\`, add your line and read the result. Switch to *Ask first* to let me do it.`
