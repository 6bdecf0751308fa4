import Protocol

extension Alert {
    /// Kinds of plugins that raise alerts.
    package static let raisers: Set<Manifest.Kind> = [.observer, .debouncer, .handler, .uploader]
}
