extension DebouncerStage {
    /// An instance that hears how far it may pull, and which types it may pull.
    package struct Consumer: Sendable, Equatable {
        package enum Role: Sendable { case handler, uploader }

        package var name: String
        /// nil: all types.
        package var types: Set<String>?
        /// Types that a consumer of all types doesn't accept.
        package var except: Set<String>
        /// Types of other consumers whose release also triggers this consumer's sync.
        package var triggers: Set<String>
        /// Minutes of the local day at which its sync runs.
        package var times: Set<Int> = []
        package var role: Role

        package init(
            name: String, types: Set<String>?, except: Set<String> = [], triggers: Set<String> = [],
            role: Role = .handler
        ) {
            (self.name, self.types, self.except, self.triggers, self.role) = (name, types, except, triggers, role)
        }

        func takes(_ type: String) -> Bool { types?.contains(type) ?? !except.contains(type) }
    }
}
