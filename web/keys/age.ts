// The parts of age that key files need, loaded when one is saved or opened.
export { armor, Decrypter, Encrypter } from 'age-encryption'
