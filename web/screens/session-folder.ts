// What a session needs to know of its folder, before anybody looks into it.
export { openWork } from '../state/work.ts'
export { ChangesPill, hasChanges, SideChanges } from './work-side.tsx'
