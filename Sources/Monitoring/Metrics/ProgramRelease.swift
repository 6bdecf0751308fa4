/// The release of healthbus that these programs belong to.
package enum ProgramRelease {
    package static let current = "0.1.0"
}
