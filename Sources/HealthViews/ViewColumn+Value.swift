import HealthModel

extension ViewColumn {
    /// What a document has for it; null where it is absent, or something else than the column promises. Of the view's own columns it knows nothing: null.
    /// - Parameter hour: which entry of the body's hours.
    package func value(in body: Value, hour: Int? = nil) -> Value {
        switch content {
        case .own: return .null
        case .member(let path): return checked(path.reduce(body) { $0[$1] })
        case .hour(let name):
            guard let hour, let list = body["hours"][name].array, list.indices.contains(hour) else { return .null }
            return checked(list[hour])
        }
    }

    private func checked(_ value: Value) -> Value {
        let isPromised =
            switch kind {
            case .integer: value.int != nil
            case .real: value.double != nil
            case .boolean: value.bool != nil
            case .json: value.object != nil || value.array != nil
            case .text, .date, .moment, .uuid: value.string != nil
            }
        return isPromised ? value : .null
    }

    /// Whether a person who asks for `name` means it: its own name, or the figure's as the summary has it.
    package func isCalled(_ name: String) -> Bool {
        switch content {
        case .own: self.name == name
        case .member(let path): self.name == name || path.joined(separator: ".") == name
        case .hour(let figure): self.name == name || figure == name
        }
    }
}
