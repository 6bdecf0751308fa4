import HealthModel

extension ViewColumn {
    /// A document's value for the column; null if it is missing, or isn't of the type that the column promises. It is
    /// also null for the view's own columns, which aren't in the document.
    /// - Parameter hour: the index of the entry in the body's hours.
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

    /// Whether `name` is either the name of this column or the figure's name in the summary.
    package func isCalled(_ name: String) -> Bool {
        switch content {
        case .own: self.name == name
        case .member(let path): self.name == name || path.joined(separator: ".") == name
        case .hour(let figure): self.name == name || figure == name
        }
    }
}
