/// An element's version on one side.
package struct HeldVersion: Sendable, Equatable {
    /// nil if the destination doesn't keep it: then only content, and whether it exists, can be compared.
    package var version: Int64?
    package var isDeleted: Bool
    /// A number that is the same for the same content; nil if unknown, or if it is deleted.
    package var content: Int64?

    package init(version: Int64?, isDeleted: Bool, content: Int64? = nil) {
        (self.version, self.isDeleted, self.content) = (version, isDeleted, content)
    }
}
