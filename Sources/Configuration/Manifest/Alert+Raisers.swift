import Protocol

extension Alert {
    /// Kinds of plugins that raise some.
    package static let raisers: Set<Manifest.Kind> = [.observer, .debouncer, .handler, .uploader]
}
