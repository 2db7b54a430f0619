import t from 'tap'
import { storageContract } from '../../store/contract/storage.ts'
import { proveParts } from '../contract.ts'

proveParts(t, storageContract)
