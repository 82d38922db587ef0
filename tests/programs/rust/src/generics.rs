//! Generic functions, traits and their objects.
// MODE: golden

use std::fmt::Debug;
use std::ops::Add;

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "shape".to_owned()
    }
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.0 * self.0 * self.0
    }
    fn name(&self) -> String {
        "circle".to_owned()
    }
}

fn sum<T: Copy + Default + Add<Output = T> + Debug>(values: &[T]) -> T {
    values.iter().fold(T::default(), |a, b| a + *b)
}

pub(crate) fn main() {
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square(2.0)), Box::new(Circle(1.0))];
    for shape in &shapes {
        println!("{} {}", shape.name(), shape.area());
    }
    println!("{} {}", sum(&[1u8, 2, 3]), sum(&[1.5f32, 2.5]));
}
