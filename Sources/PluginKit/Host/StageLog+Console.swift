import Console

extension StageLog {
    /// The process's log on standard error, as the environment says.
    public static func standard(_ instance: String) throws -> StageLog {
        let log = try Log(plugin: instance)
        return StageLog { level, event, fields in
            let level: Log.Level =
                switch level {
                case .debug: .debug
                case .info: .info
                case .notice: .notice
                case .error: .error
                }
            // The part of the process before the dot: what happened to the observer, an anchor, an upload.
            let category = event.split(separator: ".").first.map(String.init) ?? event
            log.event(event, category: category, level: level, fields: fields.map { ($0, .text($1)) })
        }
    }
}
