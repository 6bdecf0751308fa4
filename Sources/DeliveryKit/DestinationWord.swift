import Configuration
import HealthModel

extension Manifest {
    /// What people call the place that its instances deliver to, after "the"; it depends on the option that says where
    /// it is.
    package var destinationWord: String {
        let words = [("url", "backend"), ("folder", "folder"), ("broker", "broker"), ("server", "server")]
        let options = configuration["properties"]
        if let word = words.first(where: { !options[$0.0].isNull })?.1 { return word }
        return options["urlFile"].isNull ? "backend" : "database"
    }
}
