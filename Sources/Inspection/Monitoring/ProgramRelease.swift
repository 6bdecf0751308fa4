/// Which release of healthbus these programs are.
package enum ProgramRelease {
    package static let current = "0.1.0"
}
