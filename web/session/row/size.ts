/** Whether a command is shown in a card: in full, or not at all. */
export function fitsCard(command: string): boolean {
  return command.length <= 240 && command.split('\n').length <= 6
}
