import type { AppStory } from './app-story.ts'
import { machine, server } from './responses.ts'
import { busyHome } from './world.ts'

/** The app at an address, with a busy account. */
export function at(path: string, given: Partial<AppStory> = {}): AppStory {
  return { at: path, home: busyHome, server, machine, isKeyChecked: true, ...given }
}
