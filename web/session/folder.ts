// What a session needs to know of its folder, before anybody looks into it.

export { ChangesPill, hasChanges, SideChanges } from './work/side.tsx'
export { openWork } from './work/work.ts'
